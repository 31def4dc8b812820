// The car alarm system as an action system: one definition per visible action, so rows
// of the state machine with the same label are joined. The order in which flashers and
// siren start is free: both outputs are enabled.
def CarAlarm {
    types {
        Delay = [0..270]
        Place = [OpenUnlocked | ClosedUnlocked | OpenLocked | ClosedLocked | Armed | Disarm | Trigger
                 | Alarm1 | FlashAndSound | Flash | Off | SilentAndOpen | Rearm]
        Flag = [0..1]
    }
    state {
        st: Place
        sound: Flag
        flash: Flag
        el: Flag
    }
    init {
        st := OpenUnlocked
        sound := 0
        flash := 0
        el := 0
    }
    actions {
        ?close(w: Delay)
            if w == 0 && (st == OpenUnlocked || st == OpenLocked || st == SilentAndOpen)
            then {
                st := if st == OpenUnlocked then ClosedUnlocked
                      else if st == OpenLocked then ClosedLocked
                      else Rearm
            }
        ?lock(w: Delay)
            if w == 0 && (st == OpenUnlocked || st == ClosedUnlocked)
            then { st := if st == OpenUnlocked then OpenLocked else ClosedLocked }
        ?open(w: Delay)
            if w == 0 && (st == ClosedUnlocked || st == Armed) || w < 20 && st == ClosedLocked
            then {
                st := if st == ClosedUnlocked then OpenUnlocked
                      else if st == ClosedLocked then OpenLocked
                      else Disarm
                el := if st == Armed then 1 else el
            }
        ?unlock(w: Delay)
            if w == 0 && (st == OpenLocked || st == Armed || st == SilentAndOpen)
               || w < 20 && st == ClosedLocked
               || w < 30 && st == FlashAndSound
               || w < 270 && st == Flash
            then {
                st := if st == OpenLocked || st == SilentAndOpen then OpenUnlocked
                      else if st == ClosedLocked then ClosedUnlocked
                      else if st == Armed then Disarm
                      else Off
                el := if st == Armed then 0 else el
            }
        !armedOn(w: Delay)
            if w == 20 && st == ClosedLocked || w == 0 && st == Rearm
            then { st := Armed }
        !armedOff(w: Delay)
            if w == 0 && st == Disarm
            then {
                st := if el == 0 then ClosedUnlocked else Trigger
                el := 0
            }
        !flashOn(w: Delay)
            if w == 0 && (st == Trigger || st == Alarm1 && flash == 0)
            then {
                st := if st == Trigger then Alarm1 else FlashAndSound
                flash := 1
            }
        !soundOn(w: Delay)
            if w == 0 && (st == Trigger || st == Alarm1 && sound == 0)
            then {
                st := if st == Trigger then Alarm1 else FlashAndSound
                sound := 1
            }
        !soundOff(w: Delay)
            if w == 30 && st == FlashAndSound || w == 0 && st == Off && sound == 1
            then {
                st := if st == FlashAndSound then Flash else Off
                sound := 0
            }
        !flashOff(w: Delay)
            if w == 270 && st == Flash || w == 0 && st == Off && sound == 0 && flash == 1
            then {
                st := if st == Flash then SilentAndOpen else OpenUnlocked
                flash := 0
            }
    }
}
