//! What is known, as one HTML page that opens from disk: no network, no server, nothing beside it.
//!
//! The page holds one JSON document, the [`ReportPage`] itself, and one picture; the script and the style sheet that show them come
//! from `web/` and are embedded as built. Every part is optional: a campaign, the model it tested, an analysis
//! of mutants, a suite.
//!
//! *Promises.* What a model or a system says cannot become markup: the document is data in which every `<` is
//! escaped, the page makes text nodes of it, and its content security policy allows nothing but the
//! embedded script and style sheet, by their hashes. Size is bounded: see [`run_tape`] and [`campaign`].

pub mod campaign;
mod latency;
pub mod model;
pub mod mutation;
mod page;
pub mod run_tape;
mod runs;
pub mod suite;
mod switch_totals;

use std::io::{self, Write};

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use self::campaign::CampaignPage;
use self::model::ModelPart;
use self::mutation::MutationPage;
use self::suite::SuitePage;

/// The version of the document; it changes when a field changes its meaning or goes away.
pub const VERSION: u32 = 1;

/// What is shown.
#[derive(Default)]
pub struct ReportPage {
    /// A campaign.
    pub campaign: Option<CampaignPage>,
    /// The model it tested.
    pub model: Option<ModelPart>,
    /// An analysis of mutants.
    pub mutation: Option<MutationPage>,
    /// A suite of tests, and what it found.
    pub suite: Option<SuitePage>,
    /// What the reader should know about what is missing.
    pub notes: Vec<String>,
    /// What `ioxide replay` is to be given.
    pub record: String,
}

impl ReportPage {
    /// Writes the page, piece by piece.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        page::write(self, out)
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
        self.suite.as_ref().map_or_else(|| (name.to_owned(), String::new()), SuitePage::headline)
    }

    /// The picture of the model or the machine.
    fn picture(&self) -> &str {
        let machine = self.suite.as_ref().map(|suite| suite.picture.as_str());
        self.model.as_ref().map(|model| model.picture.as_str()).or(machine).unwrap_or_default()
    }
}

/// The document the page shows.
impl Serialize for ReportPage {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut document = out.serialize_struct("Page", 8)?;
        document.serialize_field("format", "ioxide-report")?;
        document.serialize_field("version", &VERSION)?;
        document.serialize_field("record", &self.record)?;
        document.serialize_field("notes", &self.notes)?;
        document.serialize_field("campaign", &self.campaign)?;
        document.serialize_field("model", &self.model.as_ref().map(|model| &model.json))?;
        document.serialize_field("mutation", &self.mutation)?;
        document.serialize_field("suite", &self.suite.as_ref().map(|suite| &suite.told))?;
        document.end()
    }
}

#[cfg(test)]
mod tests;
