package main

import (
	"encoding/json"
	"fmt"
	"log"
	"reflect"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A filler sets every field of a type, each to something else.
type filler struct {
	// empty leaves zero what is no pointer, and lets pointers, lists and maps hold zeros.
	empty bool
	count int64
	// recursions is the number of structs around the current place that may contain themselves.
	recursions int
}

func (f *filler) value(v reflect.Value, name string) {
	f.count++
	switch leaf := v.Addr().Interface().(type) {
	case *metav1.Time:
		if !f.empty {
			*leaf = metav1.Unix(1_700_000_000+f.count, 0)
		}
		return
	case *metav1.MicroTime:
		if !f.empty {
			*leaf = metav1.UnixMicro(1_700_000_000+f.count, f.count*1000)
		}
		return
	case *resource.Quantity:
		if !f.empty {
			*leaf = *resource.NewMilliQuantity(f.count, resource.DecimalSI)
		}
		return
	case *intstr.IntOrString:
		if f.empty {
			*leaf = intstr.FromString("")
		} else {
			*leaf = intstr.FromInt32(int32(f.count))
		}
		return
	case *metav1.FieldsV1:
		leaf.SetRawString(fmt.Sprintf(`{"f:%s":{}}`, name))
		return
	case *runtime.RawExtension:
		leaf.Raw = []byte(fmt.Sprintf(`{"%s":[%d,null]}`, name, f.count))
		return
	case *apiextensionsv1.JSON:
		leaf.Raw = []byte(fmt.Sprintf(`{"%s":[%d,null]}`, name, f.count))
		return
	case *time.Duration:
		log.Fatal("the server has no notion of durations")
	}
	if f.recursions == 2 && slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, v.Kind()) && containsItself(v.Type().Elem()) {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if _, union := v.Addr().Interface().(json.Unmarshaler); !union && containsItself(v.Type()) {
			f.recursions++
			defer func() { f.recursions-- }()
		}
		for i := range v.NumField() {
			f.value(v.Field(i), v.Type().Field(i).Name)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.value(v.Elem(), name)
		if zero, ok := v.Interface().(interface{ IsZero() bool }); ok && zero.IsZero() {
			v.SetZero() // the server does not tell a pointer to the zero time from none
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(name))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		f.value(v.Index(0), name)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		element := reflect.New(v.Type().Elem()).Elem()
		f.value(element, name)
		key := reflect.New(v.Type().Key()).Elem()
		f.value(key, name)
		v.SetMapIndex(key, element)
	default:
		if !f.empty {
			f.scalar(v, name)
		}
	}
}

func (f *filler) scalar(v reflect.Value, name string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("%s <%d>", name, f.count))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(-f.count)
	case reflect.Float64:
		v.SetFloat(float64(f.count) + 0.5)
	default:
		log.Fatalf("%s: the server has no notion of a %v", name, v.Kind())
	}
}

// containsItself reports whether values of a type can hold values of the same type.
func containsItself(t reflect.Type) bool {
	seen := map[reflect.Type]bool{}
	var reaches func(reflect.Type) bool
	reaches = func(from reflect.Type) bool {
		if seen[from] {
			return from == t
		}
		seen[from] = true
		switch from.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			return reaches(from.Elem())
		case reflect.Struct:
			for i := range from.NumField() {
				if from.Field(i).IsExported() && reaches(from.Field(i).Type) {
					return true
				}
			}
		}
		return false
	}
	return reaches(t)
}
