import { fileURLToPath } from "node:url";

/** Environment in which child processes of tests reuse compiled sources: loading all sources takes a second without it. */
export const COMPILE_CACHE = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../../node_modules/.cache/longhaul-tests", import.meta.url)),
};
