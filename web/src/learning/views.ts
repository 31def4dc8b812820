// Written by a test from the structs of Rust (`UPDATE_TYPES=1 cargo test typescript`): do not edit.

export type AnsweredView = { input: string, answer: string, };

export type CounterexampleView = { hypothesis: number, steps: Array<AnsweredView>, believed: string, };

/** A hypothesis to be seen. */
export type HypothesisView = { version: number,
/** Which picture it is; 0 if there is none yet. */
picture: number,
/** Which hypothesis it shows. */
hypothesis: number,
/** The one it is compared with, if there was one. */
before: number | null, svg: string,
/** Why there is no picture; empty if there is one. */
missing: string, states: number, moves: number,
/** New states and moves. */
new_states: Array<string>, n_new_moves: number, new_moves: Array<NewMoveView>,
/** Moves that were believed before. */
n_gone: number, };

export type LearningEndView = { has_model: boolean, lines: Array<string>, out: string | null, };

/** What is done, without the figures. */
export type LearningStep = "asking" | "testing" | "walking" | "drafting" | "timers" | "over";

/** Learning under way, or over. */
export type LearningView = { version: number, system: string, model: string,
/** What kind of model it becomes, in words. */
kind: string, inputs: number, suite: string, most_extra: number, phase: LearningStep,
/** Extra states of the suite that is applied. */
extra: number,
/** Tests or walks done, of how many. */
done: number, of: number,
/** How long the tests or walks that are left take, if nothing is found. */
left_ms: number | null, hypotheses: number, states: number,
/** What the system was asked, in this session. */
resets: number, symbols: number,
/** Inputs a second, lately; in the end, over all. */
per_second: number, elapsed_ms: number,
/** What is promised of the hypothesis so far; empty if nothing. */
guarantee: string,
/** The number of the picture; 0 if there is none yet. */
picture: number, counterexample: CounterexampleView | null,
/** Runs of a system that contradicts itself; empty if it has not. */
disagreement: Array<string>, notes: Array<string>, end: LearningEndView | null, };

export type NewMoveView = { from: string, to: string, text: string, };
