//! Squarified treemaps (Bruls, Huizing, van Wijk).

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Divides an area in proportion to `sizes`, which are sorted largest first.
pub(super) fn squarify(sizes: &[f64], within: Area) -> Vec<Area> {
    let total: f64 = sizes.iter().sum();
    let mut areas = Vec::with_capacity(sizes.len());
    if total <= 0.0 {
        return vec![Area { width: 0.0, height: 0.0, ..within }; sizes.len()];
    }
    let scale = within.width * within.height / total;
    let mut rest = sizes;
    let mut room = within;
    while !rest.is_empty() {
        let side = room.width.min(room.height);
        let mut taken = 1;
        while taken < rest.len() && worst(&rest[..=taken], side, scale) <= worst(&rest[..taken], side, scale)
        {
            taken += 1;
        }
        room = place(&rest[..taken], room, scale, &mut areas);
        rest = &rest[taken..];
    }
    areas
}

/// Returns the worst aspect ratio in a row.
fn worst(row: &[f64], side: f64, scale: f64) -> f64 {
    let depth = row.iter().sum::<f64>() * scale / side.max(f64::EPSILON);
    let ratio = |size: &f64| {
        let length = size * scale / depth.max(f64::EPSILON);
        (depth / length.max(f64::EPSILON)).max(length / depth.max(f64::EPSILON))
    };
    row.iter().map(ratio).fold(0.0, f64::max)
}

/// Places a row along the shorter side, and returns the remaining area.
fn place(row: &[f64], room: Area, scale: f64, areas: &mut Vec<Area>) -> Area {
    let Area { x, y, width, height } = room;
    let sum = row.iter().sum::<f64>() * scale;
    let mut along = 0.0;
    if width >= height {
        let depth = sum / height.max(f64::EPSILON);
        for size in row {
            let length = size * scale / depth.max(f64::EPSILON);
            areas.push(Area { x, y: y + along, width: depth, height: length });
            along += length;
        }
        Area { x: x + depth, width: (width - depth).max(0.0), ..room }
    } else {
        let depth = sum / width.max(f64::EPSILON);
        for size in row {
            let length = size * scale / depth.max(f64::EPSILON);
            areas.push(Area { x: x + along, y, width: length, height: depth });
            along += length;
        }
        Area { y: y + depth, height: (height - depth).max(0.0), ..room }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_in_proportion_and_fill_the_whole() {
        let whole = Area { x: 0.0, y: 0.0, width: 6.0, height: 4.0 };
        let sizes = [6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0];
        let areas = squarify(&sizes, whole);
        for (size, area) in sizes.iter().zip(&areas) {
            assert!((area.width * area.height - size).abs() < 1e-9, "{size} {area:?}");
            assert!(area.x >= 0.0 && area.x + area.width <= 6.0 + 1e-9 && area.y + area.height <= 4.0 + 1e-9);
        }
    }

    #[test]
    fn empty_and_zero_sizes_are_allowed() {
        let whole = Area { x: 0.0, y: 0.0, width: 1.0, height: 1.0 };
        assert!(squarify(&[], whole).is_empty());
        assert_eq!(squarify(&[0.0, 0.0], whole).len(), 2);
        assert_eq!(squarify(&[1.0], Area { width: 0.0, ..whole }).len(), 1);
    }
}
