// A preload that plants a defect in a source: LONGHAUL_DEFECT=3 node --import ./test/simulation/plant.ts …
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { DEFECTS } from "./defects.ts";

const root = fileURLToPath(new URL("../../src/", import.meta.url));
const defect = DEFECTS[Number(process.env.LONGHAUL_DEFECT)];
if (!defect) throw new Error(`LONGHAUL_DEFECT names no defect: ${process.env.LONGHAUL_DEFECT}`);

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.startsWith("file:") || fileURLToPath(url) !== `${root}${defect.file}`) return loaded;
    const source = String(loaded.source);
    if (!source.includes(defect.find)) throw new Error(`${defect.file} has no "${defect.find}".`);
    return { ...loaded, source: source.replace(defect.find, () => defect.replace) };
  },
});
