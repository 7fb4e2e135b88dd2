export {
  computeEditDistance as editDistance,
  findNearestWords as nearestWords,
} from "../../model/edit-distance.ts";
