// Written by a test from the structs of Rust (`UPDATE_TYPES=1 cargo test typescript`): do not edit.

/** Kinds of steps, in the order of their numbers. */
export const STEP_KINDS: StepKind[] = ["input", "output", "quiescence", "delay", "observed", "breakdown"];

/** The outcome of a run: a verdict, or none. */
export type Outcome = "pass" | "inconclusive" | "fail" | "error" | "interrupted";

/** The kind of a step, by the side that moved; all breakdowns are one kind. */
export type StepKind = "input" | "output" | "quiescence" | "delay" | "observed" | "breakdown";
