// One seed for the choices of all tests: HOLDFAST_SEED repeats them.
function drawSeed() {
  process.env.HOLDFAST_SEED ??=
    process.env.CI_SEED ?? String(Math.floor(Math.random() * 1_000_000));
  return Number(process.env.HOLDFAST_SEED);
}

module.exports = { drawSeed };
