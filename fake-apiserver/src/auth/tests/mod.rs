//! Tests through the public interface, against a cluster that is a map.
