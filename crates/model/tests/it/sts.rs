//! Tests of [`ioxide_model::sts`].

mod switches;
