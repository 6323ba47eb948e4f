// Package framework has, in the place of Kubernetes' test/integration/framework/etcd.go, the etcd that all servers of a run share, if they keep
// their objects there: the program that ETCD names. Else there is an address at which every request is refused, for tests that read or write there.
// Goroutines that tests leave behind are not looked for: they are no server's.
package framework

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"google.golang.org/grpc"
)

// The time that etcd has to get ready.
const etcdDeadline = time.Minute

var etcdURL string

// EtcdMain runs the tests, beside etcd if there is one to run, and ends the process.
func EtcdMain(tests func() int) {
	flag.Parse()
	end, err := startEtcd(os.Getenv("ETCD"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "etcd:", err)
		os.Exit(1)
	}
	code := tests()
	end()
	os.Exit(code)
}

// GetEtcdURL returns etcd's address.
func GetEtcdURL() string {
	return etcdURL
}

// startEtcd starts the program, and returns what ends it. Its data need not survive a crash of the machine.
func startEtcd(program string) (func(), error) {
	// Tests with a client of their own speak to no socket.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	etcdURL = "http://" + address
	if program == "" {
		server := grpc.NewServer()
		go func() { _ = server.Serve(listener) }()
		return server.Stop, nil
	}
	if err := listener.Close(); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "etcd")
	if err != nil {
		return nil, err
	}
	command := exec.Command(program,
		"--data-dir="+filepath.Join(folder, "data"),
		"--unsafe-no-fsync",
		"--listen-client-urls="+etcdURL,
		"--advertise-client-urls="+etcdURL,
		"--listen-peer-urls=http://127.0.0.1:0",
		"--log-level=error",
	)
	command.Stderr = os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		return nil, err
	}
	end := func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		_ = os.RemoveAll(folder)
	}
	for late := time.Now().Add(etcdDeadline); ; time.Sleep(20 * time.Millisecond) {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			return end, connection.Close()
		}
		if time.Now().After(late) {
			end()
			return nil, err
		}
	}
}
