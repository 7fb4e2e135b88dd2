/** Words that say nothing about the subject of a text; contractions are listed without their apostrophe. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above actually after again against ago ain all almost along already also although always am among an and any
anything are aren around as at away b back be because been before being below between both but by c can cannot cant
could couldn couldnt d did didn didnt do does doesn doesnt doing don dont done down during e each either else enough etc
even ever every everything f few for from further g get gets getting got h had hadn has hasn hasnt have haven having he
hello her here hers herself hes hey hi him himself his how however i id if ill im in into is isn isnt it its itself ive j
just k kind l least let lets like ll lot lots m maybe me might mine more most much must my myself n neither never no nor
not now o of off oh ok okay on once one ones only or other others our ours ourselves out over own p per perhaps please
pretty q quite r rather re really right s same shall she should shouldn since so some something still such sure t than
thank thanks that thats the their theirs them themselves then there theres these they thing things this those though
through thus to together too u under until up upon us v ve very via w was wasn wasnt way we well were weren what whats
when where whether which while who whom whose why will with within without won wont would wouldn x y yeah yes yet you
your youre yours yourself yourselves youve z`.split(/\s+/),
);
