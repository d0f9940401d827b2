import { fileURLToPath } from "node:url";

import { defineConfig } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// The service finds the built files beside its code. They are committed, so that nobody needs Node.js to run it.
export default defineConfig({
  base: "/console/",
  resolve: { alias: { scrubjay: here("../clients/typescript/src/index.ts") } },
  build: {
    outDir: process.env["CONSOLE_OUT"] ?? here("../services/context/console/built"),
    emptyOutDir: true,
    target: "es2022",
    // The policy of the page allows no data in place of files, and no script in the page.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { "/api": process.env["SCRUBJAY_URL"] ?? "http://127.0.0.1:8080" } },
});
