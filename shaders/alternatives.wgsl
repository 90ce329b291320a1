// The most probable next ids of each item, best first, ties by id, by repeated selection: no sort.
// logits [most, width] of items first.. (untouched since the forward pass), results from loss.wgsl with objective 0;
// best [items, 2 · alternatives]: id, bits of the log-probability. Banned ids follow all others, at −1e30.
struct Dims { width: u32, first: u32, most: u32, vocab: u32 }

@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<uniform> dims: Dims;
@group(0) @binding(2) var<storage, read> allowed: array<f32>;
@group(0) @binding(3) var<storage, read> logits: array<f32>;
@group(0) @binding(4) var<storage, read> results: array<f32>;
@group(0) @binding(5) var<storage, read_write> best: array<u32>;

@compute @workgroup_size(LANES, ROWS)
fn main(
  @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_id) local: vec3u,
) {
  let count = min(batch.items - dims.first, dims.most);
  let row = linear_group(group, groups) * ROWS + local.y;
  let safe = min(row, count - 1u);
  let base = safe * dims.width;
  let norm = results[(dims.first + safe) * 8u + 2u];
  var last = 3.4028234e38;
  var last_id = 0u;
  for (var k = 0u; k < batch.alternatives; k++) {
    var top = -3.4028234e38;
    var top_id = 0xffffffffu;
    for (var j = local.x; j < dims.vocab; j += LANES) {
      let value = select(logits[base + j] / batch.temperature, -1e30, allowed[j] == 0.0);
      let left = value < last || (value == last && j > last_id);
      if (left && value > top) {
        top = value;
        top_id = j;
      }
    }
    let most = row_max(top, local);
    last_id = row_min_id(select(0xffffffffu, top_id, top == most), local);
    last = most;
    if (row < count && local.x == 0u) {
      let at = ((dims.first + row) * batch.alternatives + k) * 2u;
      best[at] = last_id;
      best[at + 1u] = bitcast<u32>(select(last - norm, -1e30, last <= -1e30));
    }
  }
}
