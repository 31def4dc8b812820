//! Dates of results that were not made now.

use std::time::{SystemTime, UNIX_EPOCH};

/// The seconds of a day.
const DAY: u64 = 86_400;

/// Returns the time as people write it: `2026-11-16 18:02 UTC`.
pub fn current_date() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    format_date(seconds)
}

/// Returns the time that is this many seconds after the beginning of 1970.
fn format_date(seconds: u64) -> String {
    let (year, month, day) = civil(seconds / DAY);
    let (hour, minute) = (seconds % DAY / 3600, seconds % 3600 / 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

/// Returns year, month and day of a day after 1970-01-01.
fn civil(days: u64) -> (u64, u64, u64) {
    // Years are counted from March, so that the leap day is the last of its year; eras have 400 years.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_dates() {
        assert_eq!(format_date(0), "1970-01-01 00:00 UTC");
        assert_eq!(format_date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(format_date(1_794_852_179), "2026-11-16 18:02 UTC");
        assert_eq!(format_date(4_107_542_399), "2100-02-28 23:59 UTC");
        assert_eq!(format_date(4_107_542_400), "2100-03-01 00:00 UTC");
    }
}
