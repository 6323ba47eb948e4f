//! Comparison of values with strings, numbers and booleans.

use crate::Value;

macro_rules! equal {
    ($($ty:ty, |$value:ident, $other:ident| $equal:expr;)*) => {$(
        impl PartialEq<$ty> for Value {
            fn eq(&self, other: &$ty) -> bool {
                let ($value, $other) = (self, other);
                $equal
            }
        }

        impl PartialEq<Value> for $ty {
            fn eq(&self, other: &Value) -> bool {
                other == self
            }
        }
    )*};
}

equal! {
    str, |value, other| value.as_str() == Some(other);
    &str, |value, other| value.as_str() == Some(*other);
    String, |value, other| value.as_str() == Some(other.as_str());
    bool, |value, other| value.as_bool() == Some(*other);
    i32, |value, other| value.as_i64() == Some(i64::from(*other));
    i64, |value, other| value.as_i64() == Some(*other);
    u32, |value, other| value.as_u64() == Some(u64::from(*other));
    u64, |value, other| value.as_u64() == Some(*other);
    usize, |value, other| value.as_u64() == Some(*other as u64);
    f64, |value, other| value.as_f64() == Some(*other);
    crate::Text, |value, other| value.as_str() == Some(other.as_str());
}

macro_rules! equal_to_reference {
    ($($ty:ty),*) => {$(
        impl PartialEq<$ty> for &Value {
            fn eq(&self, other: &$ty) -> bool {
                **self == *other
            }
        }
    )*};
}

equal_to_reference!(bool, i32, i64, u64, f64);
