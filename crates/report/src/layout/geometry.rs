//! Points, boxes and lines on the page.

/// The direction in which the layers of a drawing follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerDirection {
    /// From top to bottom.
    Down,
    /// From left to right.
    Right,
}

/// Width and height.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BoxSize {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// A point; y grows downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// The distance from the left.
    pub x: f64,
    /// The distance from the top.
    pub y: f64,
}

/// A box with its left upper corner.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl Rect {
    /// Right edge.
    #[must_use]
    pub fn right(&self) -> f64 {
        self.x + self.width
    }

    /// Bottom edge.
    #[must_use]
    pub fn bottom(&self) -> f64 {
        self.y + self.height
    }

    /// The point in the middle.
    #[must_use]
    pub fn centre(&self) -> Point {
        Point { x: self.x + self.width / 2.0, y: self.y + self.height / 2.0 }
    }

    /// A box of twice the size `half` around `centre`.
    pub(super) fn centred_at(centre: Point, half: BoxSize) -> Self {
        let BoxSize { width, height } = half;
        Self { x: centre.x - width, y: centre.y - height, width: 2.0 * width, height: 2.0 * height }
    }
}

/// The line of an edge from its source to its target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EdgeRoute {
    /// The point at the source.
    pub start: Point,
    /// The pieces of the line, in order; empty for an edge without an end.
    pub steps: Vec<RouteStep>,
}

/// A piece of an [`EdgeRoute`] that begins where the one before ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RouteStep {
    /// A straight line to a point.
    Line(Point),
    /// A cubic Bézier curve with two control points, to the last point.
    Curve(Point, Point, Point),
}

impl EdgeRoute {
    /// Returns the end of the line; its start if it has no pieces.
    #[must_use]
    pub fn end_point(&self) -> Point {
        match self.steps.last() {
            Some(RouteStep::Line(to) | RouteStep::Curve(_, _, to)) => *to,
            None => self.start,
        }
    }

    /// Returns every point of the line, control points included.
    pub(super) fn points_mut(&mut self) -> impl Iterator<Item = &mut Point> {
        let steps = self.steps.iter_mut().flat_map(|step| match step {
            RouteStep::Line(to) => vec![to],
            RouteStep::Curve(a, b, to) => vec![a, b, to],
        });
        std::iter::once(&mut self.start).chain(steps)
    }
}
