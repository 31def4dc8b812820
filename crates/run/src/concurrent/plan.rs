//! Runs that are planned as a whole, for callers that carry out the operations themselves.

use ioxide_history::{BeliefId, HistoryPartition, OperationClass, SequentialModel, StateSpace};
use ioxide_model::concrete::ConcreteState;
use ioxide_model::label::Label;
use ioxide_symex::Ctx;

use super::run_seed;
use super::workload::{MAX_STATES, Workload};

/// Plans runs of concurrent clients in advance.
///
/// A campaign ([`test_clients`](super::test_clients)) plans each burst in the states that are possible after the one
/// before. Here nothing is known about the system yet, so the states are those after answers that the model allows.
pub struct RunPlanner {
    workload: Workload,
    seed: u64,
}

impl RunPlanner {
    /// Plans runs of this model.
    pub fn new(cx: &mut Ctx<'_>, model: &SequentialModel, seed: u64) -> Self {
        let partition = HistoryPartition::derive(cx, model);
        Self { workload: Workload::new(cx, model, &partition), seed }
    }

    /// Plans the run of this number: bursts of about `operations` operations in all, each with one list of inputs for
    /// every client. In the last burst the first client reads everything.
    pub fn plan_run(
        &mut self,
        cx: &mut Ctx<'_>,
        model: &SequentialModel,
        run: u64,
        clients: usize,
        operations: usize,
    ) -> Vec<Vec<Vec<Label>>> {
        let mut choices = self.workload.begin(run_seed(self.seed, run));
        let mut space = StateSpace::new(cx, model);
        let mut belief = space.start();
        let mut bursts = Vec::new();
        let mut left = operations;
        while left > 0 {
            let states: Vec<ConcreteState> = space.states(belief).take(MAX_STATES).cloned().collect();
            let burst = choices.plan_burst(space.cx(), &states, clients, left, &[]);
            let inputs: Vec<&Label> = burst.inputs.iter().flatten().collect();
            if inputs.is_empty() {
                // The model accepts nothing that could be sent.
                break;
            }
            left = left.saturating_sub(inputs.len());
            // Operations of one burst happen at once; their order here is one of those that are possible, and only
            // guides what is planned next.
            for input in inputs {
                belief = advance(&mut space, belief, input);
            }
            bursts.push(burst.inputs);
        }
        bursts.push(choices.plan_last_look(space.cx().pool, clients).inputs);
        bursts
    }
}

/// Returns the belief after an operation with this input and the first answer that the model allows; the same belief if
/// it allows none.
fn advance(space: &mut StateSpace<'_, '_>, belief: BeliefId, input: &Label) -> BeliefId {
    let Some(output) = space.allowed_answers(belief, input).into_iter().next() else { return belief };
    let class = space.intern_class(OperationClass { input: input.clone(), output: Some(output) });
    match space.step(belief, class) {
        // A belief without states would plan nothing more: the plan goes on as if the operation had not been.
        BeliefId::EMPTY | BeliefId::UNSPECIFIED => belief,
        next => next,
    }
}
