//! All systems of a fault domain.
