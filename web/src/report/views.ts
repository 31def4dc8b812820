// Written by a test from the structs of Rust (`UPDATE_TYPES=1 cargo test typescript`): do not edit.

import type { Outcome } from "../shared/words.js";

/** A label that the specification allowed. */
export type Allowed = {
/** The message, with values or the condition on them; `δ` for silence. */
label: string,
/** The switch; absent for silence. */
switch?: string,
/** The fields that have other values than the observed message, if that is the same message with one value each. */
differences?: Array<FieldDifference>, };

/** A campaign in the JSON document. */
export type CampaignView = { figures: FiguresJson,
/** The seed as text, since it may exceed the numbers of JavaScript. */
seed: string, runs: RunsView,
/** The runs that took each switch, by its label. */
taken: { [key in string]: TakenView }, latency: Array<LatencyView>,
/** The smaller runs, by the number of the run each was made from, from 1. */
smaller: Array<[number, SmallerView]>,
/** The number of smaller runs for which there was no room. */
smaller_unkept: number,
/** The frequencies of the values sent, by field. */
values: Array<SentView>, parts: Array<PartFamily>, };

/** A change of the model that explains every run. */
export type ChangeView = {
/** The change in words. */
reason: string,
/** The change as a unified diff. */
diff: string,
/** The effects beyond the runs, each as a sentence. */
effects: Array<string>, };

/** The JSON document of the page. */
export type DocumentView = { format: string, version: number, record: string, notes: Array<string>, campaign: CampaignView | null, evidence: EvidencePage | null, model: ModelShown | null, mutation: MutationPage | null, suite: SuiteView | null, };

/** The evidence about the first failure of a campaign. */
export type EvidencePage = {
/** The facts, each as a sentence in which names stand in backquotes. */
facts: Array<string>,
/** Changes of the model that explain every run, the best first; empty if none was looked for or found. */
changes: Array<ChangeView>,
/** The command that finds such changes, in a sentence; null if the system has passed before. */
command: string | null, };

/** The observed label against the allowed ones, with the reasons. */
export type Explanation = {
/** The label that was observed. */
observed: string,
/** The labels that were allowed instead, each with the switch that allows it. */
allowed: Array<Allowed>,
/** The states the specification may have been in, the first ones if there are many. */
states: Array<StateRecord>,
/** The number of states. */
n_states: number,
/** The reason for every switch that could have matched, but did not. */
why_not: Array<WhyNot>,
/** The number of orders of crossing messages that were tried, if more than one; everything else is about the first. */
orders?: number, };

/** The extent of a variable: of its numbers, or of the sizes of its collections. */
export type ExtentRecord = {
/** Its name. */
variable: string,
/** The least value. */
least: string,
/** The greatest value. */
most: string, };

/** Failures of one kind. Runs count from 1 here, as they do for people and for `replay --number`. */
export type FailureJson = { id: string, signature: string, runs: number, first: number, seed: number, goal: string, steps: number,
/** The number of the forbidden step, from 1. */
forbidden: number, last: Array<string>, reason: string, explanation: Explanation | null,
/** The failure in the words of HTTP: request, answer, lines of `curl`. */
http?: Array<string>, replayed: ReplayedJson | null, shrunk: ShrunkJson | null, };

/** A field whose observed value is not the allowed one. */
export type FieldDifference = {
/** Its name. */
field: string,
/** The value that was observed. */
got: string,
/** The value that was allowed. */
expected: string, };

/** The figures of a campaign. */
export type FiguresJson = { version: number, verdict: string,
/** The reason why a campaign without failures is inconclusive, where one holds for all its runs. */
reason: string | null, is_finished: boolean, campaign: StartJson | null, runs: RunCountsJson, steps: number, doubts: number, time_ns: number, failures: Array<FailureJson>, failures_unlisted: number, errors: ReasonsJson, inconclusive: ReasonsJson, switches: SwitchesJson,
/** The figures by operation of a system that is asked by HTTP. */
operations?: Array<OperationCounts>,
/** The requirements of the model; absent if it names none. */
requirements?: RequirementTableJson, values: Array<ValueRowJson>, values_full: boolean, latencies: Array<LatencyRecord>, suggested_patience_ms: number | null, machine_lag: LagRecord | null, time_spent: TimeSpentRecord | null, measures: Array<MeasureRecord>, history: HistoryRecord | null, };

/** The end of a timed run in the words of its method (\[BLLN23]). */
export type FindingRecord = {
/** `PASS`, `FAIL_out`, `FAIL_dur`, `INC_out`, `INC_dur`, `INC_ucIn_spec`, `INC_ucIn_uspec` or `INC_off_path`. */
word: string,
/** The rule of the test case that says so; empty without a test case. */
rule?: string,
/** The state of the test case; without one, the locations of the specification. */
state: string,
/** The label observed there, and the delay before it in seconds, for people. */
event: string,
/** The part of a guard that does not hold, or the guard of the arc that was taken. */
because?: string, };

export type FrequentJson = { value: string, sent: number, };

/** The extent of the runs. */
export type HistoryRecord = {
/** The number of labels of the longest run. */
longest_run: number,
/** The least and the greatest value of each variable. */
extents?: Array<ExtentRecord>,
/** The number of new pairs of switches expected among the next million, if runs go on as they did; absent if too
 * few were seen to tell. */
new_pairs_per_million?: number, };

export type InsteadJson = { outcome: Outcome, steps: Array<string>, };

/** A label: the code of its kind, gate, text, fields, the number of characters if the text was cut, the text on the
 * wire, the part it belongs to. */
export type LabelView = [number, string, string, Record<string, unknown> | null, number | null, string | null, string | null];

/** The effect of a busy machine, in milliseconds, rounded up. */
export type LagRecord = {
/** The longest extension of a wait for silence. */
waits_ms?: number,
/** The largest widening of the tolerance of instants; a run that needed it is inconclusive. */
tolerance_ms?: number, };

/** The latency of a message of the system. */
export type LatencyRecord = {
/** The message. */
label: string,
/** The number of times that it was observed. */
n: number,
/** Half of the times are no longer, in microseconds. */
p50_us: number,
/** 99 of 100 are no longer, in microseconds. */
p99_us: number,
/** The longest, in microseconds. */
max_us: number, };

/** The latencies of one message. */
export type LatencyView = { label: string,
/** The shortest time of each class, in nanoseconds, and its number of answers. */
classes: Array<[number, number]>, };

export type LocationShown = { name: string, doc: string, };

/** The coverage of a measure. */
export type MeasureRecord = {
/** `switches`, `pairs`, `comparisons`, `values` or `equalities`. */
measure: string,
/** The number of items seen. */
seen: number,
/** The number of items, as far as guards alone tell; absent if they are too many to be enumerated. */
total?: number,
/** The first items that were not seen though no guard excludes them. */
missing?: Array<string>, };

/** A model in the JSON document. */
export type ModelShown = { name: string, doc: string, file: string, initial: string | null, is_timed: boolean, switches: Array<SwitchShown>, locations: Array<LocationShown>,
/** The name of each message, its kind, and its doc comment. */
gates: Array<[string, string, string]>, };

/** The outcome of a mutant. */
export type MutantResult = "killed" | "equivalent" | "unknown" | "survived";

/** A mutant and its outcome. */
export type MutantRow = {
/** Its name. */
id: string,
/** The operators that made it. */
operators: string,
/** The line of the source that the mutant changes; 0 if there is none. */
line: number,
/** The switches before and after the mutation. */
diff: string,
/** The outcome. */
outcome: MutantResult,
/** The reason why the mutant is equivalent or unknown; may be empty. */
reason: string,
/** A trace that distinguishes the mutant: for a survivor, the one the suite lacks. */
witness: Array<string>, };

/** A mutation analysis of a model. */
export type MutationPage = {
/** The name of the model. */
model: string,
/** The suite or tester that was measured; empty if the suite was made from the mutants themselves. */
suite: string,
/** The mutants. */
mutants: Array<MutantRow>,
/** The tests. */
tests: Array<TestRow>, };

/** The figures of one operation. */
export type OperationCounts = {
/** Method and path. */
operation: string,
/** Its place in the description of the service. */
pointer: string | null,
/** The number of requests. */
requests: number,
/** The number of answers by status, such as `200` or `4xx`; `other` if it is not known. */
statuses: { [key in string]: number },
/** The number of its transitions that were certainly taken. */
covered: number,
/** The number of its transitions. */
transitions: number, };

/** The instances of one part, such as an array of parts. */
export type PartFamily = {
/** The name of the part. */
name: string,
/** The number of instances. */
instances: number,
/** The number of observable switches that the instances have altogether, by label within the part. */
total: number,
/** The number of these certainly taken in some instance. */
some: number,
/** The number of these certainly taken in every instance. */
each: number, };

export type ReachWord = "reached" | "never" | "open";

export type ReasonJson = { reason: string, runs: number, };

/** The reasons of runs without a result: the first different ones, in the order in which they occurred. */
export type ReasonsJson = { reasons: Array<ReasonJson>, others: number, };

/** The number of repetitions that failed in the same way and, if none did, the outcome and labels of the first. */
export type ReplayedJson = { reproduced: number,
/** The number of repetitions that were made. */
of: number,
/** True if it fails only after the reset of the project file, never after a restart. */
only_after_reset: boolean, unmade?: UnmadeRecord, instead?: InsteadJson, };

/** A requirement for programs. */
export type RequirementJson = { requirement: string, status: RequirementStatus, transitions: Array<string>,
/** The tests and purposes that trace to it, as the goal of a run. */
goals: Array<string>, properties: Array<string>, covered: Array<string>,
/** The number of runs that covered some of it. */
runs: number,
/** The numbers of the first ones, from 1, in stretches: the first and the last of each. */
run_numbers: Array<[number, number]>,
/** The number of failing runs that contradict it. */
failures: number, };

/** The result of the runs for one requirement. */
export type RequirementStatus = "in-failure" | "covered" | "partly" | "possibly" | "not-covered" | "property-only";

/** The requirements for programs. */
export type RequirementTableJson = { rows: Array<RequirementJson>,
/** The transitions that trace to no requirement. */
untraced: Array<string>, };

/** Numbers of runs by outcome. */
export type RunCountsJson = { finished: number, passed: number, failed: number, inconclusive: number, errors: number, interrupted: number,
/** Runs that began and did not end. */
cut: number, };

/** The number of runs, and the numbers of the first of them, from 1. */
export type RunListView = { n: number, first: Array<number>, };

/** A run in the list: its number, outcome, steps, nanoseconds, goal, reason, the position of its kind of failure, 1 if
 * there is a tape, the seed. */
export type RunRow = [number, Outcome, number, number, string, string, number | null, number, string];

/** The runs of a campaign as the page has them; they count from 1. */
export type RunsView = { columns: Array<string>, listed: Array<RunRow>, unlisted: number,
/** The numbers of the runs that began and did not end. */
open: Array<number>, details: { [key in number]: TroubleView }, tapes: { [key in number]: TapeView }, };

/** A program that does a run again without ioxide. */
export type ScriptView = { language: string, text: string, };

/** The frequencies of the values of a field. */
export type SentView = { message: string, field: string, are_numbers: boolean, shape: ShapeJson | null, values: Array<[string, number]>, beyond: number, };

/** The lengths of the collections, or the constructors, among the values of a field. */
export type ShapeJson = { least: number, most: number, lengths: Array<[string, number]>, } | { cases: Array<[string, number]>, };

/** The smallest run found that fails alike. */
export type ShrunkJson = { steps: number,
/** The number of the forbidden step, from 1. */
forbidden: number, last: Array<string>, minimal: boolean, ended_early: string | null, attempts: number,
/** The labels that were allowed at the end of this run, and the reasons against the one that came; `None` if they
 * are not known. */
explanation: Explanation | null, };

/** A failing run that was made smaller. */
export type SmallerView = { tape: TapeView,
/** The number of its forbidden step, from 1. */
forbidden: number, from: number, attempts: number, minimal: boolean, reproduced: number, of: number,
/** The values of inputs that were taken from replies. */
references: Array<string>,
/** The forbidden step against what was allowed. */
explanation: Explanation | null,
/** Programs that do the run again without ioxide. */
scripts: Array<ScriptView>,
/** The reason why no program without ioxide can do the run again; `None` if one can. */
no_script: string | null, };

/** The first event of a campaign: model, system, tester and settings. */
export type StartJson = { model: string, file: string, set: Array<string>, tester: string, sut: string, seed: number, runs: number, jobs: number, patience_ms: number,
/** The number of switches of the model. */
switches: number, };

/** A state the specification may have been in. */
export type StateRecord = {
/** Its location. */
location: string,
/** Its variables as `name = value`. */
values: Array<string>,
/** The constraints on values that are not known. */
path?: Array<string>, };

/** The verdict of a suite on a system. */
export type SuiteVerdict = "pass" | "fail" | "unknown";

/** The texts and figures of a suite. */
export type SuiteView = {
/** The name of the machine. */
machine: string,
/** The name of the method that generated the tests. */
method: string,
/** The guarantee that passing all tests gives, in words. */
promise: string,
/** The verdict; `None` if the tests were not carried out. */
verdict: SuiteVerdict | null,
/** Figures by name, in order. */
figures: Array<[string, number]>,
/** The tests, the first [`MAX_TESTS`]. */
tests: Array<string>,
/** The number of tests that are not listed. */
unlisted: number,
/** The answers observed that the machine does not allow. */
failures: Array<string>, };

/** A switch with its source. */
export type SwitchShown = { label: string, from: string, to: string, kind: string, message: string, guard: Array<string>, range: Array<string>, updates: Array<string>, resets: Array<string>, file: string | null, line: number | null, source: string, doc: string, reqs: Array<string>, reach: ReachWord | null,
/** The reason why the switch is unreachable, or its reachability unknown. */
why: string | null, };

/** Switches by whether they were taken. */
export type SwitchesJson = { certain: Array<string>, possible: Array<string>, never: Array<string>, };

/** The number of steps and the runs at which a switch was taken. */
export type TakenView = { certain: number, possible: number,
/** The number of runs that certainly took the switch and passed. */
certain_passing: number, passing: RunListView, failing: RunListView, others: RunListView, };

/** The steps of a run in the JSON document: tables of different labels and sets of switches, and columns of positions
 * in them. */
export type TapeView = {
/** The number of steps dropped from the beginning. */
before: number, labels: Array<LabelView>, sets: Array<Array<string>>, label: Array<number>, set: Array<number>,
/** The number of states the specification may have been in; -1 where it no longer restricts the system. */
belief: Array<number>,
/** Nanoseconds since the step before; `None` if no time passed. */
time: Array<number> | null, };

/** A test and the mutants it kills. */
export type TestRow = {
/** Its name. */
name: string,
/** The labels of the test; empty for a tester. */
steps: Array<string>,
/** The positions of the mutants it kills. */
kills: Array<number>, };

/** The time of a campaign, and what it was used for, in milliseconds. With several instances at once, the shares
 * together are as many times the elapsed time as there are instances. */
export type TimeSpentRecord = {
/** The time from the beginning of the campaign to its end. */
elapsed_ms: number,
/** Sending inputs and waiting for replies that came. */
replies_ms: number,
/** Waiting while the system was silent. */
silence_ms: number,
/** Starting and resetting the system. */
restarts_ms: number,
/** Choosing the next move. */
tester_ms: number,
/** Repeating and shrinking runs that failed. */
repeats_ms: number,
/** Everything else: judging, counting, writing the record. */
other_ms: number, };

/** The explanation of a failure or of trouble. */
export type TroubleView = { reason: string,
/** The number of the forbidden step, from 1; `None` if the run did not fail. */
forbidden: number | null, explanation: Explanation | null, finding: FindingRecord | null, last_words: string, };

/** The repetitions of a failing run that could not be made. */
export type UnmadeRecord = {
/** The number of repetitions that were wanted. */
wanted: number,
/** The reason why the first of them could not be made, for people. */
reason: string, };

/** The values of a field that were sent. */
export type ValueRowJson = { message: string, field: string | null, sent: number, distinct: number, is_more: boolean, min: string | null, max: string | null, frequent: Array<FrequentJson>, shape?: ShapeJson, };

/** The reason why a switch did not match. */
export type WhyNot = {
/** The state, by position in [`Explanation::states`]. */
state: number,
/** The switch. */
switch: string,
/** The reason, with the values that count. */
reason: string,
/** The documentation comment of the switch. */
doc?: string, };
