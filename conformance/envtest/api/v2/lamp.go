// Package v2 has a later version of Lamp, which has its light in one field.
package v2

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	v1 "example.com/lamps/api/v1"
)

// GroupVersion is that of this package's kinds.
var GroupVersion = schema.GroupVersion{Group: "example.com", Version: "v2"}

// AddToScheme tells a scheme this package's kinds.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Lamp{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// Lamp is a lamp.
type Lamp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   LampSpec      `json:"spec,omitempty"`
	Status v1.LampStatus `json:"status,omitempty"`
}

// LampSpec is what a lamp shall be like.
type LampSpec struct {
	// Light is a color and a percentage: `red 40%`.
	Light string `json:"light,omitempty"`
}

// ConvertTo makes a lamp of the version that is stored.
func (lamp *Lamp) ConvertTo(hub conversion.Hub) error {
	to := hub.(*v1.Lamp)
	to.ObjectMeta, to.Status = lamp.ObjectMeta, lamp.Status
	if lamp.Spec.Light == "" {
		return nil
	}
	light := strings.Replace(lamp.Spec.Light, "%", " %", 1)
	if _, err := fmt.Sscanf(light, "%s %d %%", &to.Spec.Color, &to.Spec.Percent); err != nil {
		return fmt.Errorf("the light %q is no color and percentage", lamp.Spec.Light)
	}
	return nil
}

// ConvertFrom makes this lamp of one of the version that is stored.
func (lamp *Lamp) ConvertFrom(hub conversion.Hub) error {
	from := hub.(*v1.Lamp)
	lamp.ObjectMeta, lamp.Status = from.ObjectMeta, from.Status
	if from.Spec != (v1.LampSpec{}) {
		lamp.Spec.Light = fmt.Sprintf("%s %d%%", from.Spec.Color, from.Spec.Percent)
	}
	return nil
}

// DeepCopyObject copies the lamp.
func (lamp *Lamp) DeepCopyObject() runtime.Object {
	copied := *lamp
	lamp.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	return &copied
}
