// Package v1 has the version of Lamp that is stored, and to which the others convert.
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is that of this package's kinds.
var GroupVersion = schema.GroupVersion{Group: "example.com", Version: "v1"}

// AddToScheme tells a scheme this package's kinds.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Lamp{}, &LampList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// Lamp is a lamp.
type Lamp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   LampSpec   `json:"spec,omitempty"`
	Status LampStatus `json:"status,omitempty"`
}

// LampSpec is what a lamp shall be like.
type LampSpec struct {
	Color string `json:"color,omitempty"`
	// Percent of the full light.
	Percent int32 `json:"percent,omitempty"`
}

// LampStatus is what a lamp is like.
type LampStatus struct {
	Lit bool `json:"lit,omitempty"`
}

// LampList is a list of lamps.
type LampList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Lamp `json:"items"`
}

// Hub marks the version to which all others convert.
func (*Lamp) Hub() {}

// DeepCopyObject copies the lamp.
func (lamp *Lamp) DeepCopyObject() runtime.Object {
	copied := *lamp
	lamp.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	return &copied
}

// DeepCopyObject copies the list.
func (list *LampList) DeepCopyObject() runtime.Object {
	copied := *list
	list.ListMeta.DeepCopyInto(&copied.ListMeta)
	copied.Items = make([]Lamp, len(list.Items))
	for i := range list.Items {
		copied.Items[i] = *list.Items[i].DeepCopyObject().(*Lamp)
	}
	return &copied
}
