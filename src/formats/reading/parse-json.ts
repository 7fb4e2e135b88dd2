export { describeJsonFault, parseJson } from "../../base/parse-json.ts";
