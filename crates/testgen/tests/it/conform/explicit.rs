//! Tests of [`ioxide_testgen::conform::explicit`].

mod world;
