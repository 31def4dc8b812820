// Written by a test from the structs of Rust (`UPDATE_TYPES=1 cargo test typescript`): do not edit.

import type { Outcome, StepKind } from "../shared/words.js";

export type AllowedView = { label: string, switch: string | null, };

/** The recorded steps a walk begins with. */
export type BaseView = {
/** The record. */
record: number,
/** The run. */
run: number,
/** How many of its steps. */
steps: number, };

/** How states are known. */
export type BeliefForm = "concrete" | "symbolic" | "unspecified";

/** Where the model may be. */
export type BeliefView = { kind: BeliefForm,
/** How many states there are. */
n: number,
/** The first of them. */
states: Array<StateView>, };

/** A run in one line. */
export type BriefView = {
/** Its number in the campaign, from 1. */
number: number, seed: number, goal: string, outcome: Outcome, steps: number, };

/** How far a campaign is. */
export type CampaignPhase = "idle" | "running" | "paused" | "stopping" | "over";

/** Something that can come next. */
export type ChoiceView = { switch: number, gate: number, kind: string,
/** The message, with values where they are fixed. */
message: string,
/** What the fields have to satisfy; empty if anything goes. */
when: string, fields: Array<FieldView>,
/** The step, if there is only one. */
step: string | null, possible: PossibleView, };

/** Something that went wrong. */
export type ErrorView = { version: number,
/** What, for people. */
error: string, };

/** Observed against allowed. */
export type ExplanationView = { observed: string, allowed: Array<AllowedView>, n_states: number, why_not: Array<WhyNotView>, };

export type FailureView = { record: number, run: number, steps: number, signature: string, };

/** A field of a message, and how its values are typed in. */
export type FieldView = { name: string, sort: string, form: TypedForm,
/** The values of an enum. */
options: Array<string>, };

/** A step that is forbidden. */
export type ForbiddenView = {
/** Its position in the path, from 0. */
position: number,
/** The step as a path has it. */
step: string,
/** Why. */
explanation: ExplanationView, };

/** A message. */
export type GateView = { name: string, kind: string, fields: Array<FieldView>, };

export type LastView = { number: number, kind: StepKind, gate: string, text: string, switches: Array<string>, };

/** A campaign. */
export type LiveView = { version: number, phase: CampaignPhase, pace_ms: number,
/** One character per switch: `.` never, `m` maybe, `t` taken. */
seen: string, steps: number, passed: number, failed: number, other: number, planned: number, seed: number,
/** The run under way, from 1. */
run: number, goal: string, last: Array<LastView>, failures: Array<FailureView>, message: string, };

/** A location. */
export type LocationView = { name: string, doc: string, };

/** A model. */
export type ModelView = { version: number,
/** Its name. */
name: string,
/** Its file. */
file: string,
/** What its author wrote about it. */
doc: string,
/** Its picture; empty if it is too large. */
svg: string,
/** Whether it speaks of time. */
timed: boolean,
/** Its locations. */
locations: Array<LocationView>,
/** Its switches. */
switches: Array<SwitchView>,
/** Its messages. */
gates: Array<GateView>, };

/** Where a part is, and what it remembers. */
export type PartStateView = { name: string, place: string, values: Array<[string, string]>, };

/** Whether something can come. */
export type PossibleView = "yes" | "unknown" | "no";

/** A step that makes no sense. */
export type ProblemView = {
/** Its position in the path, from 0. */
position: number,
/** The step as it was written. */
text: string,
/** What is wrong with it. */
why: string, };

export type RecordView = { name: string, n_runs: number, cut: boolean, runs: Array<BriefView>, };

export type RecordedStepView = { kind: StepKind, gate: string, text: string, switches: Array<string>, };

/** All records. */
export type RecordsView = { version: number, records: Array<RecordView>, };

/** A switch that cannot be taken. */
export type RefusedView = { switch: number, why: string, };

/** A piece of a run. */
export type RunView = { version: number,
/** The first step told, from 0. */
from: number, list: Array<RecordedStepView>, reason: string, explanation: ExplanationView | null,
/** Its number in the campaign, from 1. */
number: number, seed: number, goal: string, outcome: Outcome, steps: number, };

/** A state. */
export type StateView = { location: number, values: Array<[string, string]>, path: Array<string>,
/** The same by part, in a system made of parts; `values` is empty then. */
parts: Array<PartStateView>, };

/** A step. */
export type StepView = { number: number, text: string, kind: string, switches: Array<number>, };

/** The system under test and the testers for it. */
export type SutView = { version: number, sut: string | null, testers: Array<string>, };

/** A switch. */
export type SwitchView = { label: string, from: number, to: number, kind: string, message: string, guard: Array<string>, updates: Array<string>, doc: string, reqs: Array<string>,
/** The line it is written in, from 1. */
line: number,
/** The text there. */
source: string, };

/** How a value is typed in. */
export type TypedForm = "bool" | "int" | "real" | "string" | "enum" | "data";

export type ValuesView = { version: number,
/** Steps, each with other values. */
steps: Array<string>, };

/** Where a walk has led. */
export type WalkView = {
/** The version of the format. */
version: number,
/** The steps of the path that could be taken, written out, the recorded ones left out. */
path: Array<string>,
/** The recorded run it begins with. */
base: BaseView | null,
/** How many steps were taken. */
n_steps: number,
/** The last of them. */
steps: Array<StepView>,
/** A step that could not be read or taken; the walk ends before it. */
problem: ProblemView | null,
/** A step that the model forbids; the walk ends before it. */
forbidden: ForbiddenView | null,
/** Where the model may be. */
belief: BeliefView,
/** What can come next. */
choices: Array<ChoiceView>,
/** What cannot come next though a switch for it starts here. */
refused: Array<RefusedView>,
/** Whether silence is allowed. */
silence: boolean,
/** Answers the solver owed on the way. */
doubts: number,
/** The belief may lack states. */
truncated: boolean, };

export type WhyNotView = { state: string, switch: string, reason: string, };
