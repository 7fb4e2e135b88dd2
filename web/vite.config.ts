import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const root = fileURLToPath(new URL(".", import.meta.url));

/** The dashboard is built to dist/web, which the gateway serves. `vite web` serves it for development. */
export default defineConfig({
  root,
  publicDir: false,
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    target: "es2023",
    // Every supported browser preloads modules by itself, and data: URLs would need exceptions in the policy.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    manifest: "manifest.json",
    license: { fileName: "THIRD-PARTY-LICENSES.txt" },
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  server: { proxy: { "/api": process.env.LONGHAUL_URL ?? "http://127.0.0.1:4141" } },
});
