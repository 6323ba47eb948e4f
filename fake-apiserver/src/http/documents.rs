//! Everything that is no resource: discovery, OpenAPI, health, version, token issuer documents.
