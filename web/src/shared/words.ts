// Written by a test from the structs of Rust (`UPDATE_TYPES=1 cargo test typescript`): do not edit.

/** Kinds of steps, in the order of their numbers. */
export const STEP_KINDS: StepKind[] = ["input", "output", "quiescence", "delay", "observed", "breakdown"];

/** How a run can end: a verdict, or none. */
export type Outcome = "pass" | "inconclusive" | "fail" | "error" | "interrupted";

/** Who moved in a step; all breakdowns look alike. */
export type StepKind = "input" | "output" | "quiescence" | "delay" | "observed" | "breakdown";
