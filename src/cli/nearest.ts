export { editDistance, nearestWords } from "../index.ts";
