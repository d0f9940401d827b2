// A proxy that cuts connections: before a reply reaches the caller, or in the middle of one.

import { connect, createServer } from "node:net";

export async function cutter(target) {
  const { hostname, port } = new URL(target);
  const self = { replies: 0, every: undefined, cuts: 0, url: "", close: undefined };
  const open = new Set();
  const server = createServer((down) => {
    const up = connect(Number(port), hostname);
    let passed = 0;
    const end = () => [down, up].forEach((one) => one.destroy());
    [down, up].forEach((one) => {
      open.add(one);
      one.on("error", end).on("close", () => (open.delete(one), end()));
    });
    down.on("data", (piece) => up.write(piece));
    up.on("data", (piece) => {
      if (self.replies > 0) {
        self.replies -= 1;
        self.cuts += 1;
        return end();
      }
      const room = self.every === undefined ? piece.length : self.every - passed;
      passed += piece.length;
      if (room >= piece.length) return void down.write(piece);
      self.cuts += 1;
      down.write(piece.subarray(0, room), end);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  self.url = `http://127.0.0.1:${server.address().port}`;
  self.close = () => {
    open.forEach((one) => one.destroy());
    server.close();
  };
  return self;
}
