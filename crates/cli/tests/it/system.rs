//! Tests of `system`.

use ioxide_cli::system::SystemOpener;

#[test]
fn an_opener_is_shared_by_threads() {
    fn shared<T: Sync>() {}
    shared::<SystemOpener<'static>>();
}
