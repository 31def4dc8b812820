def Counter {
    state { n: Small }
    types { Small = [0..3] }
}
