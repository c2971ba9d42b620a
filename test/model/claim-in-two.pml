/* The same with the claim cut in two: it reads the views, and writes them in another step. It must fail. */
#define PLANTED_CLAIM_IN_TWO
#include "claim.pml"
