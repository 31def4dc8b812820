//! What is known, as one HTML page that opens from disk: no network, no server, nothing beside it.
//!
//! The page holds one JSON [document](Page::text) and one picture; the script and the style sheet that show them come
//! from `web/` and are embedded as built. Every part is optional: a campaign, the model it tested, an analysis
//! of mutants, a suite.
//!
//! *Promises.* What a model or a system says cannot become markup: the document is data in which every `<` is
//! escaped, the page makes text nodes of it, and its content security policy allows nothing but the
//! embedded script and style sheet, by their hashes. Size is bounded: see [`tape`] and [`campaign`].

pub mod campaign;
mod latency;
pub mod model;
pub mod mutation;
mod page;
mod runs;
pub mod suite;
mod taken;
pub mod tape;

use serde_json::{Value as Json, json};

use self::campaign::Campaign;
use self::model::ModelPart;
use self::mutation::Mutation;
use self::suite::Suite;

/// The version of the document; it changes when a field changes its meaning or goes away.
pub const VERSION: u32 = 1;

/// What is shown.
#[derive(Default)]
pub struct Page {
    /// A campaign.
    pub campaign: Option<Campaign>,
    /// The model it tested.
    pub model: Option<ModelPart>,
    /// An analysis of mutants.
    pub mutation: Option<Mutation>,
    /// A suite of tests, and what it found.
    pub suite: Option<Suite>,
    /// What the reader should know about what is missing.
    pub notes: Vec<String>,
    /// What `ioxide replay` is to be given.
    pub record: String,
}

impl Page {
    /// The page.
    #[must_use]
    pub fn text(&self) -> String {
        page::page(self)
    }

    /// The document the page shows.
    #[must_use]
    pub fn document(&self) -> Json {
        json!({
            "format": "ioxide-report",
            "version": VERSION,
            "record": self.record,
            "notes": self.notes,
            "campaign": self.campaign.as_ref().map(Campaign::to_json),
            "model": self.model.as_ref().map(|model| &model.json),
            "mutation": self.mutation,
            "suite": self.suite.as_ref().map(|suite| &suite.told),
        })
    }

    /// What was looked at, and what came of it, each in a few words.
    fn headline(&self) -> (String, String) {
        if let Some(campaign) = &self.campaign {
            return campaign.headline();
        }
        if let Some(mutation) = &self.mutation {
            return mutation.headline();
        }
        let name = self.model.as_ref().map_or("", |model| model.name.as_str());
        self.suite.as_ref().map_or_else(|| (name.to_owned(), String::new()), Suite::headline)
    }

    /// The picture of the model or the machine.
    fn picture(&self) -> &str {
        let machine = self.suite.as_ref().map(|suite| suite.picture.as_str());
        self.model.as_ref().map(|model| model.picture.as_str()).or(machine).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
