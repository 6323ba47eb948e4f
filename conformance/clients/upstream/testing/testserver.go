// Package testing takes the place of Kubernetes' cmd/kube-apiserver/app/testing, which starts a server in the test's process: here a server is
// a program. What it is comes from the environment:
//
//	KUBE_APISERVER        the program
//	KUBE_APISERVER_LACKS  flags that it does not have, or values of flags; tests get a server without them
//	ETCD                  etcd's program, for a server that keeps its objects there
package testing

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// The time that a server has to get ready.
const deadline = time.Minute

// The administrator's token; the user is the one that upstream's tests are.
const (
	token = "upstream-tests"
	users = token + `,system:apiserver,0,"system:masters"` + "\n"
)

// TearDownFunc ends a server.
type TearDownFunc func()

// TestServerInstanceOptions are options of upstream's that a program has no use for.
type TestServerInstanceOptions struct {
	EnableCertAuth bool
}

// TestServer is a server that runs.
type TestServer struct {
	ClientConfig      *restclient.Config
	TearDownFn        TearDownFunc
	EtcdClient        *clientv3.Client
	EtcdStoragePrefix string
	TmpDir            string
}

// NewDefaultTestServerOptions returns upstream's default.
func NewDefaultTestServerOptions() *TestServerInstanceOptions {
	return &TestServerInstanceOptions{EnableCertAuth: true}
}

// StartTestServerOrDie starts a server, or ends the test.
func StartTestServerOrDie(t testing.TB, options *TestServerInstanceOptions, flags []string, storage *storagebackend.Config) *TestServer {
	t.Helper()
	server, err := StartTestServer(t, options, flags, storage)
	if err != nil {
		t.Fatalf("failed to launch server: %v", err)
	}
	return &server
}

// StartTestServer starts the program with the flags that a test asks for, and waits until it is healthy and the default namespace exists.
func StartTestServer(t testing.TB, _ *TestServerInstanceOptions, flags []string, storage *storagebackend.Config) (TestServer, error) {
	files := t.TempDir()
	port, err := freePort()
	if err != nil {
		return TestServer{}, err
	}
	ca, always, err := prepare(files, port)
	if err != nil {
		return TestServer{}, err
	}
	if os.Getenv("ETCD") != "" {
		always = append(always, etcdFlags(storage)...)
	} else {
		// A kube-apiserver deletes no namespaces by itself.
		always = append(always, "--controllers=-namespace-controller")
	}
	client, _, err := GetEtcdClients(storage.Transport)
	if err != nil {
		return TestServer{}, err
	}
	arguments := slices.Concat(always, served(slices.Concat(flags, gates())))
	program, err := launch(arguments, filepath.Join(files, "log"))
	if err != nil {
		return TestServer{}, err
	}
	config := &restclient.Config{
		Host:            fmt.Sprintf("https://127.0.0.1:%d", port),
		BearerToken:     token,
		TLSClientConfig: restclient.TLSClientConfig{CAData: ca},
		QPS:             1000,
		Burst:           10000,
	}
	if os.Getenv("ETCD") == "" {
		administrator, err := restclient.HTTPClientFor(config)
		if err != nil {
			return TestServer{}, err
		}
		client.KV = written{client.KV, administrator, config.Host}
	}
	end := func() {
		program.end()
		_ = client.Close()
	}
	if err := program.ready(config); err != nil {
		end()
		return TestServer{}, err
	}
	return TestServer{ClientConfig: config, TearDownFn: end, EtcdClient: client, EtcdStoragePrefix: storage.Prefix, TmpDir: files}, nil
}

// GetEtcdClients returns a client of etcd.
func GetEtcdClients(config storagebackend.TransportConfig) (*clientv3.Client, clientv3.KV, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: config.ServerList, DialTimeout: 20 * time.Second})
	if err != nil {
		return nil, nil, err
	}
	return client, clientv3.NewKV(client), nil
}

// prepare writes the files that every server gets; it returns the authority of its certificate, and the flags.
func prepare(files string, port int) (ca []byte, flags []string, err error) {
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		return nil, nil, err
	}
	signing, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return nil, nil, err
	}
	for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key, "sa.key": signing, "users.csv": []byte(users)} {
		if err := os.WriteFile(filepath.Join(files, name), content, 0o600); err != nil {
			return nil, nil, err
		}
	}
	file := func(name string) string { return filepath.Join(files, name) }
	return certificate, []string{
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--tls-cert-file=" + file("tls.crt"),
		"--tls-private-key-file=" + file("tls.key"),
		"--token-auth-file=" + file("users.csv"),
		"--service-account-issuer=https://issuer.example.com",
		"--service-account-key-file=" + file("sa.key"),
		"--service-account-signing-key-file=" + file("sa.key"),
	}, nil
}

func etcdFlags(storage *storagebackend.Config) []string {
	return []string{
		"--etcd-servers=" + strings.Join(storage.Transport.ServerList, ","),
		"--etcd-prefix=" + storage.Prefix,
		"--service-cluster-ip-range=10.0.0.0/16",
		"--endpoint-reconciler-type=none",
	}
}

// gates returns a flag for the feature gates that the test has set in its own process.
func gates() []string {
	var set []string
	for gate, spec := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		if enabled := utilfeature.DefaultFeatureGate.Enabled(gate); enabled != spec.Default {
			set = append(set, fmt.Sprintf("%s=%t", gate, enabled))
		}
	}
	if len(set) == 0 {
		return nil
	}
	slices.Sort(set)
	return []string{"--feature-gates=" + strings.Join(set, ",")}
}

// served returns the flags without those that the server lacks, and without empty ones; all are written --name=value.
func served(flags []string) []string {
	var joined []string
	for i := 0; i < len(flags); i++ {
		flag := flags[i]
		if !strings.Contains(flag, "=") && i+1 < len(flags) && !strings.HasPrefix(flags[i+1], "--") {
			i++
			flag += "=" + flags[i]
		}
		joined = append(joined, flag)
	}
	lacks := strings.Fields(os.Getenv("KUBE_APISERVER_LACKS"))
	return slices.DeleteFunc(joined, func(flag string) bool {
		name, _, _ := strings.Cut(flag, "=")
		return flag == "" || slices.Contains(lacks, flag) || slices.Contains(lacks, name)
	})
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// A process is a server's, with the file that has what it prints.
type process struct {
	log   string
	kill  context.CancelFunc
	ended chan struct{}
}

func launch(arguments []string, log string) (*process, error) {
	output, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer output.Close()
	ctx, kill := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, os.Getenv("KUBE_APISERVER"), arguments...)
	command.Stdout, command.Stderr = output, output
	// A server does not outlive the tests, however they end.
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		kill()
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = command.Wait()
	}()
	return &process{log, kill, ended}, nil
}

// end ends the process and waits until it is gone.
func (p *process) end() {
	p.kill()
	<-p.ended
}

// ready waits until the server answers.
func (p *process) ready(config *restclient.Config) error {
	client, err := restclient.HTTPClientFor(config)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	late := time.After(deadline)
	for _, path := range []string{"/healthz", "/api/v1/namespaces/default"} {
		for !answers(client, config.Host+path) {
			select {
			case <-p.ended:
				return fmt.Errorf("it ended: %s", p.lastLine())
			case <-late:
				return fmt.Errorf("it is not ready after %v: %s", deadline, p.lastLine())
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	return nil
}

func answers(client *http.Client, url string) bool {
	response, err := client.Get(url)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

func (p *process) lastLine() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(lines[len(lines)-1])
}

// written is the etcd of a server that has none. It takes the configurations of webhooks that a test writes into etcd because their version is no
// longer served, as objects of the one that is.
type written struct {
	clientv3.KV
	administrator *http.Client
	host          string
}

var renewed = strings.NewReplacer("admissionregistration.k8s.io/v1beta1", "admissionregistration.k8s.io/v1", `"sideEffects":"Unknown"`, `"sideEffects":"None"`)

func (w written) Put(ctx context.Context, key, value string, options ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	resource := filepath.Base(filepath.Dir(key))
	if !strings.HasSuffix(resource, "webhookconfigurations") {
		return w.KV.Put(ctx, key, value, options...)
	}
	url := w.host + "/apis/admissionregistration.k8s.io/v1/" + resource
	response, err := w.administrator.Post(url, "application/json", strings.NewReader(renewed.Replace(value)))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	return &clientv3.PutResponse{}, nil
}
