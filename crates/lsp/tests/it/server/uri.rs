//! Tests of `server::uri`.

use lsp_types::Uri;

use ioxide_lsp::server::uri::{file_uri, uri_path};

#[test]
fn paths_come_back_from_their_addresses() {
    for path in ["/home/me/my model.iox", "/tmp/π#1.iox", "/a+b/c%20d.iox"] {
        let uri = file_uri(path).expect("an address");
        assert_eq!(uri_path(&uri), path, "{}", uri.as_str());
    }
}

#[test]
fn what_is_no_file_keeps_its_name() {
    let uri: Uri = "untitled:Untitled-1".parse().expect("an address");
    assert_eq!(uri_path(&uri), "untitled:Untitled-1");
    assert_eq!(file_uri("untitled:Untitled-1"), Some(uri));
}
