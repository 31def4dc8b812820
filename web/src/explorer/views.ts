// Written by a test from the structs of Rust (`UPDATE_TYPES=1 cargo test typescript`): do not edit.

import type { Outcome, StepKind } from "../shared/words.js";

export type AllowedView = { label: string, switch: string | null, };

/** The recorded steps a walk begins with. */
export type BaseView = {
/** The position of the record. */
record: number,
/** The position of the run. */
run: number,
/** The number of its steps taken. */
steps: number, };

/** The form in which states are known. */
export type BeliefForm = "concrete" | "symbolic" | "unspecified";

/** The states the model may be in. */
export type BeliefView = { kind: BeliefForm,
/** The number of states. */
n: number,
/** The first of these states. */
states: Array<StateView>, };

/** A run in one line. */
export type BriefView = {
/** Its position in the record, from 0. */
at: number,
/** Its number in the campaign, from 1. */
number: number,
/** The seed as text, since it may exceed the numbers of JavaScript. */
seed: string, goal: string, outcome: Outcome, steps: number, };

/** The phase of a campaign. */
export type CampaignPhase = "idle" | "running" | "paused" | "stopping" | "over";

/** A switch that can be taken next. */
export type ChoiceView = { switch: number, gate: number, kind: string,
/** The message, with values where they are fixed. */
message: string,
/** The condition on the fields; empty if it is true or the values are fixed. */
when: string, fields: Array<FieldView>,
/** The step, if the values are fixed. */
step: string | null, possible: PossibleView, };

/** The answer to a change of the text. */
export type EditView = { version: number,
/** The number of the change. */
revision: number, findings: Array<FindingView>,
/** True if the file has this text. */
saved: boolean,
/** The model; null if the text has errors, or nothing of the model was changed. */
model: ModelView | null, };

/** An error response. */
export type ErrorView = { version: number,
/** The reason, for people. */
error: string, };

/** An observation that is not allowed, with the labels allowed in its place and the reasons. */
export type ExplanationView = { observed: string, allowed: Array<AllowedView>, n_states: number, why_not: Array<WhyNotView>, };

export type FailureView = { record: number, run: number, steps: number,
/** The id of the failure. */
id: string, };

/** A field of a message, and the form in which its values are entered. */
export type FieldView = { name: string, sort: string, form: TypedForm,
/** The values of an enum; empty for other sorts. */
options: Array<string>, };

/** The severity of a finding. */
export type FindingSeverity = "error" | "warning" | "hint";

/** A finding in the text. */
export type FindingView = { severity: FindingSeverity,
/** The code that `ioxide explain` explains. */
code: string, message: string,
/** The file, if it is another than the one that is edited. */
file: string | null,
/** The line, from 1. */
line: number,
/** The column in characters, from 1. */
column: number,
/** The place in the text, in units of UTF-16, as browsers count; empty in another file. */
from: number, to: number,
/** Facts that explain it, and places with their file, line and text. */
notes: Array<string>,
/** Advice on what to do next. */
helps: Array<string>,
/** A change that would mend it. */
fix: FixView | null, };

/** A text to insert in the place of another; places are counted in units of UTF-16. */
export type FixView = { from: number, to: number, text: string, };

/** A step that is forbidden. */
export type ForbiddenView = {
/** Its position in the path, from 0. */
position: number,
/** The step as it is written in a path. */
step: string,
/** The reason. */
explanation: ExplanationView, };

/** A message. */
export type GateView = { name: string, kind: string, fields: Array<FieldView>, };

export type LastView = { number: number, kind: StepKind, gate: string, text: string, switches: Array<string>, };

/** A campaign under way, or the last one. */
export type LiveView = { version: number,
/** The revision of the model that is tested; `seen` is about its switches. */
revision: number, phase: CampaignPhase, pace_ms: number,
/** One character per switch: `.` never, `m` maybe, `t` taken. */
seen: string, steps: number, passed: number, failed: number, other: number,
/** The number of runs; null if the tester decides when to end. */
planned: number | null,
/** The seed as text, since it may exceed the numbers of JavaScript. */
seed: string,
/** The number of the run under way, from 1. */
run: number, goal: string, last: Array<LastView>, failures: Array<FailureView>, message: string, };

/** A location. */
export type LocationView = { name: string, doc: string, };

/** A model. */
export type ModelView = { version: number,
/** The revision of the text that it is the model of; 0 for the model given at start. */
revision: number,
/** Its name. */
name: string,
/** Its file. */
file: string,
/** Its doc comment. */
doc: string,
/** Its picture as SVG; empty if the model is too large. */
svg: string,
/** True if the model has clocks. */
timed: boolean,
/** Its locations. */
locations: Array<LocationView>,
/** Its switches. */
switches: Array<SwitchView>,
/** Its messages. */
gates: Array<GateView>, };

/** The location of a part, and the values of its variables. */
export type PartStateView = { name: string, place: string, values: Array<[string, string]>, };

/** The possibility of taking a switch. */
export type PossibleView = "yes" | "unknown" | "no";

/** A step that cannot be read or taken. */
export type ProblemView = {
/** Its position in the path, from 0. */
position: number,
/** The step as it was written. */
text: string,
/** The reason. */
why: string, };

export type RecordView = { name: string, n_runs: number,
/** The number of failing runs. */
n_failed: number, cut: boolean,
/** The first runs; where there are too many, failing ones before others. */
runs: Array<BriefView>,
/** True if it is a history of concurrent clients, with a page of its own and no runs. */
history: boolean, };

export type RecordedStepView = { kind: StepKind, gate: string, text: string, switches: Array<string>, };

/** All records. */
export type RecordsView = { version: number, records: Array<RecordView>, };

/** A switch that cannot be taken. */
export type RefusedView = { switch: number, why: string, };

/** A small change of the text. */
export type RepairView = {
/** The change in words. */
reason: string,
/** The change as a unified diff. */
diff: string,
/** The effects beyond the runs, each as a sentence. */
effects: Array<string>,
/** The changed text. */
text: string, };

/** The changes of the text that explain the recorded runs. */
export type RepairsView = { version: number,
/** The revision that they change. */
revision: number,
/** The reason why there is none; empty if there is one. */
refusal: string, repairs: Array<RepairView>, };

/** A piece of a run. */
export type RunView = { version: number,
/** The position of the first step, from 0. */
from: number, list: Array<RecordedStepView>, reason: string, explanation: ExplanationView | null,
/** The position of the forbidden step, from 0; `None` if the run did not fail. */
forbidden: number | null,
/** Its position in the record, from 0. */
at: number,
/** Its number in the campaign, from 1. */
number: number,
/** The seed as text, since it may exceed the numbers of JavaScript. */
seed: string, goal: string, outcome: Outcome, steps: number, };

/** The text of the model. */
export type SourceView = { version: number,
/** The reason why the text cannot be edited here; empty if it can. */
refusal: string,
/** The number of changes so far. */
revision: number, text: string, findings: Array<FindingView>,
/** True if the file has this text. */
saved: boolean,
/** True if another program has changed the file. */
changed_on_disk: boolean,
/** True if there are recorded runs that changes of the text could explain. */
has_runs: boolean, };

/** A state. */
export type StateView = { location: number, values: Array<[string, string]>, path: Array<string>,
/** The values by part, in a system made of parts; `values` is empty then. */
parts: Array<PartStateView>, };

/** A step. */
export type StepView = { number: number, text: string, kind: string, switches: Array<number>, };

/** The system under test and the testers for it. */
export type SutView = { version: number, sut: string | null, testers: Array<string>, };

/** A switch. */
export type SwitchView = { label: string, from: number, to: number, kind: string, message: string, guard: Array<string>, updates: Array<string>, doc: string, reqs: Array<string>,
/** The file of the switch: that of a part in a system. */
file: string,
/** The line of the switch in its file, from 1. */
line: number,
/** The source text of the switch. */
source: string, };

/** The form in which a value is entered. */
export type TypedForm = "bool" | "int" | "real" | "string" | "enum" | "data";

export type ValuesView = { version: number,
/** Steps with the same message and different values. */
steps: Array<string>, };

/** The end of a walk. */
export type WalkView = {
/** The version of the format. */
version: number,
/** The revision of the model that was walked through. */
revision: number,
/** The steps of the path that could be taken, written out, without the recorded ones. */
path: Array<string>,
/** The recorded run the walk begins with; `None` if it begins at the initial state. */
base: BaseView | null,
/** The number of steps taken. */
n_steps: number,
/** The last steps taken. */
steps: Array<StepView>,
/** The step that could not be read or taken; the walk ends before it. */
problem: ProblemView | null,
/** The step that the model forbids; the walk ends before it. */
forbidden: ForbiddenView | null,
/** The states the model may be in. */
belief: BeliefView,
/** The switches that can be taken next, with their messages. */
choices: Array<ChoiceView>,
/** The switches that start here and cannot be taken, with the reasons. */
refused: Array<RefusedView>,
/** True if the model allows quiescence here; false for a walk along switches. */
silence: boolean,
/** The number of queries on the way that the solver left unanswered. */
doubts: number,
/** True if the belief may lack states. */
truncated: boolean, };

export type WhyNotView = { state: string, switch: string, reason: string, };
