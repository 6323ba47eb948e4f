package main

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// elections are checks of leader election by leases.
var elections = []check{
	{"leader-election", func(s scene) error {
		first, stop := context.WithCancel(s)
		defer stop()
		leaders := make(chan string, 2)
		go elect(first, s, "one", leaders)
		if err := same(<-leaders, "one"); err != nil {
			return err
		}
		go elect(s, s, "two", leaders)
		lease, err := s.client.CoordinationV1().Leases(s.namespace).Get(s, "leader", metav1.GetOptions{})
		if err != nil {
			return err
		}
		stop()
		select {
		case next := <-leaders:
			after, err := s.client.CoordinationV1().Leases(s.namespace).Get(s, "leader", metav1.GetOptions{})
			return errors.Join(err, same(*lease.Spec.HolderIdentity, "one"), same(next, "two"), same(*after.Spec.LeaseTransitions > *lease.Spec.LeaseTransitions, true))
		case <-s.Done():
			return errors.New("there was no second leader")
		}
	}},
}

// elect takes part in an election until ctx ends, and says so if it wins.
func elect(ctx context.Context, s scene, identity string, leaders chan<- string) {
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Name: "leader", Namespace: s.namespace},
		Client:     s.client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
	}
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: lock, ReleaseOnCancel: true, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 200 * time.Millisecond,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { leaders <- identity },
			OnStoppedLeading: func() {},
		},
	})
}
