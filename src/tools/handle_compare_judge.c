// When is a difference a change? Two views of the same numbers:
//
// - by counts alone: what is counted comes at random (Poisson), so the variance of a sum of n
// things
//   is the sum of their squares. This is the column Significance.
// - against the trace's own unrest: work comes in bursts, so the sum of 32 time slices varies more
//   than chance says. Slices are also joined in twos and fours, for bursts that are longer than
//   one. The larger variance counts, and with many rows the bar is higher, since one of a hundred
//   equal rows passes two standard deviations by luck. This is the column Change.
#include "tools/handle_compare.h"

#include <math.h>

enum { COUNT_MIN = 10, JOIN_MAX = 4 };
static const double LUCK = 0.01;          // of seeing any change where there is none
static const double EFFECT_MIN_PCT = 1.0; // smaller differences are no finding

// Upper tail of the normal distribution by bisection; `tail` in (0, 0.5).
static double normal_quantile(double tail) {
    double low = 0, high = 40;
    for (int i = 0; i < 80; i++) {
        double middle = (low + high) / 2;
        if (0.5 * erfc(middle / sqrt(2.0)) > tail)
            low = middle;
        else
            high = middle;
    }
    return high;
}

double compare_threshold(size_t rows) {
    return normal_quantile(LUCK / 2 / (double)(rows ? rows : 1));
}

static double joined_variance(const Measure *measure, size_t join) {
    size_t groups = SLICES / join;
    double sums[SLICES], mean = 0, squares = 0;
    for (size_t i = 0; i < groups; i++) {
        sums[i] = 0;
        for (size_t k = 0; k < join; k++) sums[i] += measure->slices[i * join + k];
        mean += sums[i] / (double)groups;
    }
    for (size_t i = 0; i < groups; i++) squares += (sums[i] - mean) * (sums[i] - mean);
    return squares / (double)(groups - 1) * (double)groups;
}

// Of the sum over the whole span.
static double slice_variance(const Measure *measure) {
    double variance = 0;
    for (size_t join = 1; join <= JOIN_MAX && !measure->unsliced; join *= 2)
        variance = fmax(variance, joined_variance(measure, join));
    return variance;
}

static double ratio_to_spread(double difference, double variance) {
    if (variance > 0) return difference / sqrt(variance);
    return 0;
}

static double per_second(double value, double seconds) {
    return seconds > 0 ? value / seconds : 0;
}

void compare_judge_one(Item *item, const double seconds[SIDES], bool utilisation) {
    double by_count = 0, by_slice = 0;
    for (int i = 0; i < SIDES; i++) {
        const Measure *measure = &item->side[i];
        double squared = seconds[i] > 0 ? seconds[i] * seconds[i] : 1;
        double slices = slice_variance(measure);
        item->rate[i] = per_second(measure->value, seconds[i]);
        by_count += (utilisation ? slices : measure->squares) / squared;
        by_slice += fmax(slices, measure->squares) / squared;
    }
    double difference = item->rate[TEST] - item->rate[BASELINE];
    item->z = ratio_to_spread(difference, by_count);
    item->z_steady = ratio_to_spread(difference, by_slice);
}

static bool is_effect(const Item *item) {
    double larger = fmax(item->rate[BASELINE], item->rate[TEST]);
    return fabs(item->rate[TEST] - item->rate[BASELINE]) * 100 >= larger * EFFECT_MIN_PCT;
}

static double events_of(const Item *item) {
    return item->side[BASELINE].count + item->side[TEST].count;
}

static int verdict(const Item *item, double threshold) {
    if (item->side[BASELINE].unsliced || item->side[TEST].unsliced) {
        return fabs(item->rate[TEST] - item->rate[BASELINE]) > 0 ? 2 : 0;
    }
    if (!is_effect(item) || fabs(item->z_steady) < threshold) return 0;
    return item->z_steady > 0 ? 1 : -1;
}

void compare_judge(Items *items, const double seconds[SIDES], bool utilisation) {
    double totals[SIDES] = {0};
    size_t compared = 0;
    for (size_t i = 0; i < items->count; i++) {
        Item *item = &items->items[i];
        compare_judge_one(item, seconds, utilisation);
        compared += events_of(item) >= COUNT_MIN;
        for (int k = 0; k < SIDES; k++) totals[k] += item->side[k].value;
    }
    double threshold = compare_threshold(compared);
    for (size_t i = 0; i < items->count; i++) {
        Item *item = &items->items[i];
        item->change = verdict(item, threshold);
        for (int k = 0; k < SIDES; k++) {
            double whole = utilisation ? item->side[k].count : totals[k];
            item->share[k] = whole > 0 ? 100 * item->side[k].value / whole : 0;
        }
    }
}

// Differences within rounding are equal, so that the order does not hang on the last bit.
static double delta_of(const Item *item) {
    return round(fabs(item->share[TEST] - item->share[BASELINE]) * 1e6);
}

static int larger_first(double a, double b) {
    return a > b ? -1 : a < b;
}

int compare_order(const void *a, const void *b) {
    const Item *x = a, *y = b;
    int order = larger_first(delta_of(x), delta_of(y));
    if (!order)
        order = larger_first(round(fabs(x->rate[TEST] - x->rate[BASELINE])),
                             round(fabs(y->rate[TEST] - y->rate[BASELINE])));
    if (!order) order = larger_first(fabs(x->z), fabs(y->z));
    if (!order) order = larger_first(x->rate[BASELINE], y->rate[BASELINE]);
    if (!order) order = str_cmp(x->key[0], y->key[0]);
    return order ? order : str_cmp(x->key[1], y->key[1]);
}
