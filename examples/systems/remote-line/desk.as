/// The desk at the other end of the line: passes on what is typed, and shows what comes.
def Desk {
    types { Level = [0..2] }
    state { order: Level?  screen: Level? }
    init { order := none  screen := none }
    actions {
        ?fill(to: Level) if order == none then { order := some(to) }
        !send(to: Level) if let some(level) = order && to == level then { order := none }
        ?hear(at: Level) if screen == none then { screen := some(at) }
        !ring(at: Level) if let some(level) = screen && at == level then { screen := none }
    }
}
