//! The explorer: a model, recorded runs and a live campaign in a browser, served on loopback.
//!
//! [`walk`] is the heart, and the terminal stepper's as well: a path of choices becomes a belief.
//! [`worker`] is the thread that walks, [`recording`] holds recorded runs, [`live`] a campaign under way. [`edit`] is
//! the text of the model, which the page can change and save. [`learning`] is a page of its own: a system that is
//! being learned. [`server`] accepts connections, [`access`] admits requests, [`routes`] answers with the structs of
//! [`view`], the only ones that leave.
//!
//! *Promises.* No path of a file comes from the browser: recorded runs are those given at start, by number, and testers
//! that read a file and the file that is edited are those given at start. Texts of a model or a system leave as JSON
//! strings, and the page makes text of them, never markup.
//!
//! # Example
//!
//! A model is served to everyone who has its address, which contains a secret number.
//!
//! ```
//! use std::sync::Arc;
//! use std::thread;
//!
//! use ioxide_explorer::Explorer;
//! use ioxide_explorer::access::AccessToken;
//! use ioxide_explorer::server::ExplorerServer;
//! use ioxide_lang::{LoadOptions, load};
//! use ioxide_model::source::Sources;
//! use ioxide_smt::brute::BruteSolver;
//!
//! let mut sources = Sources::new();
//! let file = sources.add("lamp.iox", "model Lamp { input press output light
//!     state off { on press -> on } state on { emit light -> off } }");
//! let model = load(&sources, file, &LoadOptions::default()).model.expect("the model is in order");
//! let explorer = Explorer::new(model, &sources, Box::new(BruteSolver::new()), Vec::new(), None);
//! let server = ExplorerServer::bind("127.0.0.1:0".parse()?, AccessToken::new(4711)).expect("a free port");
//! println!("{}", server.url());
//! let ender = server.ender();
//! let serving = thread::spawn(move || server.serve(&Arc::new(explorer)));
//! ender.end_server();
//! serving.join().expect("the server ends");
//! # Ok::<(), std::net::AddrParseError>(())
//! ```

pub mod access;
pub mod edit;
pub mod http;
pub mod learning;
pub mod live;
mod pending;
pub mod recording;
pub mod routes;
pub mod server;
pub mod view;
pub mod walk;
pub mod worker;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_smt::solver::Solver;

use crate::edit::{ModelDraft, ModelEditor};
use crate::http::ExplorerRequest;
use crate::live::{Launcher, LiveCampaign};
use crate::recording::{Recording, Records};
use crate::routes::RouteReply;
use crate::server::ServedPage;
use crate::view::model::ModelView;
use crate::worker::ExplorerWorker;

/// The time for a campaign to end after its step, and for the processes it started to be ended. Chosen by feel: a
/// step may wait for its time limit, and processes get a grace period.
const CAMPAIGN_END_TIMEOUT: Duration = Duration::from_secs(20);

/// An explorer: a model to walk through and to edit, recorded runs, and perhaps a campaign under way.
pub struct Explorer {
    /// The model that is shown: the one given at start, or that of the last text without errors.
    shown: Mutex<Arc<ShownModel>>,
    /// The thread that walks through the model.
    pub(crate) desk: ExplorerWorker,
    /// The recorded runs.
    pub(crate) records: Arc<Records>,
    /// The campaign under way, or the last one.
    pub(crate) live: Arc<LiveCampaign>,
    /// The text of the model, or the reason why it cannot be edited.
    pub(crate) edited: Result<EditedModel, String>,
}

/// A model, with its view for the page.
pub(crate) struct ShownModel {
    /// The model.
    pub(crate) model: Arc<Model>,
    /// The model for the page.
    pub(crate) view: ModelView,
}

/// A text under way, and the way to turn it into a model.
pub(crate) struct EditedModel {
    pub(crate) editor: Box<dyn ModelEditor>,
    pub(crate) draft: Mutex<ModelDraft>,
}

impl ShownModel {
    /// Returns `model`, read from `sources`, with its view; it is the model of a revision of the text.
    pub(crate) fn new(model: Model, sources: &Sources, revision: u32) -> Self {
        Self { view: ModelView::new(&model, sources, revision), model: Arc::new(model) }
    }
}

impl Explorer {
    /// Returns an explorer of `model`, read from `sources`, with these recorded runs; `launcher` starts campaigns.
    #[must_use]
    pub fn new(
        model: Model,
        sources: &Sources,
        solver: Box<dyn Solver>,
        recordings: Vec<Recording>,
        launcher: Option<Box<dyn Launcher>>,
    ) -> Self {
        let shown = Arc::new(ShownModel::new(model, sources, 0));
        let records = Arc::new(Records::new(recordings));
        let live = LiveCampaign::new(Arc::clone(&shown.model), Arc::clone(&records), launcher);
        let desk = ExplorerWorker::start(Arc::clone(&shown.model), solver, Arc::clone(&records));
        let edited = Err("this explorer was started without an editor".to_owned());
        Self { shown: Mutex::new(shown), desk, records, live, edited }
    }

    /// Returns the explorer with an editor of the model, whose file has `text`.
    #[must_use]
    pub fn with_editor(self, editor: Box<dyn ModelEditor>, text: String) -> Self {
        Self { edited: Ok(EditedModel { editor, draft: Mutex::new(ModelDraft::new(text)) }), ..self }
    }

    /// Returns the explorer without an editor, for the reason that the page shows.
    #[must_use]
    pub fn without_editor(self, why: &str) -> Self {
        Self { edited: Err(why.to_owned()), ..self }
    }

    /// Returns whether the text of the model was changed and not saved.
    #[must_use]
    pub fn has_unsaved_text(&self) -> bool {
        self.edited
            .as_ref()
            .is_ok_and(|edited| !edited.draft.lock().unwrap_or_else(PoisonError::into_inner).is_saved())
    }

    /// Returns the model that is shown.
    pub(crate) fn shown_model(&self) -> Arc<ShownModel> {
        Arc::clone(&self.shown.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Shows another model. Walks go through it from now on, and the next campaign tests against it; a campaign under
    /// way keeps its own.
    pub(crate) fn replace_model(&self, shown: &Arc<ShownModel>) {
        let revision = shown.view.revision;
        // Whoever gets this model finds it at the worker as well, so the lock is held until it is there.
        let mut present = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        self.desk.replace_model(Arc::clone(&shown.model), revision);
        self.live.replace_model(Arc::clone(&shown.model), revision);
        *present = Arc::clone(shown);
    }
}

impl ServedPage for Explorer {
    fn answer(&self, path: &str, request: &ExplorerRequest) -> RouteReply {
        routes::answer_route(self, path, request)
    }

    fn wait_for_update(
        &self,
        seen: Option<u64>,
        patience: Duration,
    ) -> Option<(u64, serde_json::Result<String>)> {
        let (version, view) = self.live.wait_for_change(seen, patience)?;
        Some((version, serde_json::to_string(&view)))
    }

    fn close(&self) {
        self.live.stop();
        self.live.wait_until_idle(CAMPAIGN_END_TIMEOUT);
    }
}
