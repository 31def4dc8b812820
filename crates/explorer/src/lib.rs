//! The explorer: a model, recorded runs and a live campaign in a browser, served on loopback.
//!
//! [`walk`] is the heart, and the terminal stepper's as well: a path of choices becomes a belief.
//! [`worker`] is the thread that walks, [`recording`] holds recorded runs, [`live`] a campaign under way.
//! [`server`] accepts connections, [`access`] lets in who may come, [`routes`] answers with the
//! structs of [`view`], the only ones that leave.
//!
//! *Promises.* No path of a file comes from the browser: recorded runs are those given at start, by
//! number. Texts of a model or a system leave as JSON strings, and the page makes text of them, never
//! markup.

pub mod access;
pub mod http;
pub mod live;
mod pending;
pub mod recording;
mod routes;
pub mod server;
pub mod view;
pub mod walk;
pub mod worker;

use std::sync::Arc;

use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_smt::solver::Solver;

use crate::live::{Launcher, LiveCampaign};
use crate::recording::{Recording, Records};
use crate::view::model::ModelView;
use crate::worker::ExplorerWorker;

/// What is explored.
pub struct Explorer {
    /// The model, as the page sees it.
    pub(crate) model: ModelView,
    /// Walks.
    pub(crate) desk: ExplorerWorker,
    /// The recorded runs.
    pub(crate) records: Arc<Records>,
    /// The campaign under way, if there is one.
    pub(crate) live: Arc<LiveCampaign>,
}

impl Explorer {
    /// Explores `model`, read from `sources`, with these recorded runs; `launcher` starts campaigns.
    #[must_use]
    pub fn new(
        model: Model,
        sources: &Sources,
        solver: Box<dyn Solver>,
        recordings: Vec<Recording>,
        launcher: Option<Box<dyn Launcher>>,
    ) -> Self {
        let view = ModelView::of(&model, sources);
        let records = Arc::new(Records::new(recordings));
        let live = LiveCampaign::new(&model.sts, Arc::clone(&records), launcher);
        let desk = ExplorerWorker::start(model, solver, Arc::clone(&records));
        Self { model: view, desk, records, live }
    }
}
