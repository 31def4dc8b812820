// Written by a test from the structs of Rust (`UPDATE_TYPES=1 cargo test typescript`): do not edit.

export type AnsweredView = { input: string, answer: string, };

export type CounterexampleView = { hypothesis: number, steps: Array<AnsweredView>, believed: string, };

/** A hypothesis and its picture. */
export type HypothesisView = { version: number,
/** The number of the picture; 0 if there is none yet. */
picture: number,
/** The number of the hypothesis. */
hypothesis: number,
/** The number of the hypothesis it is compared with; `None` for the first. */
before: number | null, svg: string,
/** The reason why there is no picture; empty if there is one. */
missing: string, states: number, moves: number,
/** The names of the new states. */
new_states: Array<string>, n_new_moves: number, new_moves: Array<NewMoveView>,
/** The number of moves of the hypothesis before that are gone. */
n_gone: number, };

export type LearningEndView = { has_model: boolean, lines: Array<string>, out: string | null, };

/** The activity of the learner, without its figures. */
export type LearningStep = "asking" | "testing" | "walking" | "drafting" | "timers" | "over";

/** Learning under way, or ended. */
export type LearningView = { version: number, system: string, model: string,
/** The kind of the learned model, in words. */
kind: string, inputs: number, suite: string, most_extra: number, phase: LearningStep,
/** The number of extra states of the suite that is applied. */
extra: number,
/** The number of tests or walks done. */
done: number, of: number,
/** The time the remaining tests or walks will take, in milliseconds, if they find no counterexample. */
left_ms: number | null, hypotheses: number, states: number,
/** The number of resets of the system in this session. */
resets: number, symbols: number,
/** Inputs per second over the last seconds; after the end, over the whole time. */
per_second: number, elapsed_ms: number,
/** The guarantee for the hypothesis so far; empty if there is none. */
guarantee: string,
/** The number of the picture; 0 if there is none yet. */
picture: number, counterexample: CounterexampleView | null,
/** The runs in which the system contradicts itself; empty if there are none. */
disagreement: Array<string>, notes: Array<string>, end: LearningEndView | null, };

export type NewMoveView = { from: string, to: string, text: string, };
