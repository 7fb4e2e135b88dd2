export { computeEditDistance as editDistance, findNearestWords as nearestWords } from "../index.ts";
