// The image: a box per frame, as wide as its weight, callers below their callees. Without script,
// so that any viewer shows it; a box's tooltip has its name and weight. Compared traces: width is
// the trace's own weight, red is more than in the baseline and blue is less, by share of the total.
#include "tools/flame_internal.h"

#include <math.h>

enum { WIDTH = 1200, ROW = 16, TOP = 28, CHARACTER = 7, LEVELS_MAX = 1024 };

typedef struct Image {
    const Flame *flame;
    double scale; // pixels per ns
    double least; // narrowest box drawn
    uint32_t levels;
    FlameSink *sink;
    FlameCut *cut;
} Image;

static void add_xml(Buf *out, Str text) {
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '&')
            buf_add_c(out, "&amp;");
        else if (c == '<')
            buf_add_c(out, "&lt;");
        else if (c == '>')
            buf_add_c(out, "&gt;");
        else if (c == '"')
            buf_add_c(out, "&quot;");
        else
            buf_add_char(out, c);
    }
}

static double share(const Flame *flame, const FlameNode *node, unsigned side) {
    int64_t all = flame->nodes.items[0].total[side];
    return all ? 100.0 * (double)node->total[side] / (double)all : 0;
}

// Frames of one module have one hue.
static void add_colour(const Flame *flame, const FlameNode *node, Buf *out) {
    if (flame->compares) {
        double delta = share(flame, node, 0) - share(flame, node, 1);
        int other = 255 - (int)fmin(200, fabs(delta) * 20);
        if (delta >= 0)
            buf_addf(out, "rgb(255,%d,%d)", other, other);
        else
            buf_addf(out, "rgb(%d,%d,255)", other, other);
        return;
    }
    Str label = flame->labels.items[node->label];
    size_t end = str_find(label, STR("!"));
    if (end == SIZE_MAX) end = str_find(label, STR("+0x"));
    Str module = str_slice(label, 0, end);
    uint64_t hash = 1469598103934665603u; // FNV-1a: colours must not change between versions
    for (size_t i = 0; i < module.n; i++)
        hash = (hash ^ (unsigned char)module.p[i]) * 1099511628211u;
    buf_addf(out, "hsl(%u,%u%%,%u%%)", (unsigned)(hash % 60), 60 + (unsigned)(hash >> 8) % 30,
             60 + (unsigned)(hash >> 16) % 15);
}

static void draw_box(const Image *image, const FlameNode *node, double x) {
    const Flame *flame = image->flame;
    Buf *out = &image->sink->text;
    double width = (double)node->total[0] * image->scale;
    unsigned y = TOP + (image->levels - node->depth) * ROW;
    Str label = flame->labels.items[node->label];
    buf_add_c(out, "<g><title>");
    add_xml(out, label);
    buf_addf(out, " (%.3f ms, %.2f%%", (double)node->total[0] / 1e6, share(flame, node, 0));
    if (flame->compares) buf_addf(out, "; before %.2f%%", share(flame, node, 1));
    buf_addf(out, ")</title><rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" fill=\"", x, y,
             width, (int)ROW - 1);
    add_colour(flame, node, out);
    buf_add_c(out, "\"/>");
    size_t room = (size_t)(width / CHARACTER);
    if (room >= 3) {
        buf_addf(out, "<text x=\"%.1f\" y=\"%u\">", x + 2, y + 12);
        // Cut between characters, not inside one.
        size_t end = label.n <= room ? label.n : room - 2;
        while (end < label.n && end > 0 && ((unsigned char)label.p[end] & 0xC0) == 0x80) end--;
        add_xml(out, str_slice(label, 0, end));
        if (label.n > room) buf_add_c(out, "..");
        buf_add_c(out, "</text>");
    }
    buf_add_c(out, "</g>\n");
    if (image->sink->flush && out->n > (1 << 20)) image->sink->flush(image->sink);
}

// The node behind `node` and all below it; 0: none.
static uint32_t skip(const Flame *flame, uint32_t node) {
    while (node && !flame->nodes.items[node].next_sibling) node = flame->nodes.items[node].parent;
    return node ? flame->nodes.items[node].next_sibling : 0;
}

static void walk_boxes(Image *image, bool draw, Arena *arena) {
    const Flame *flame = image->flame;
    double *next_x = ARENA_ARRAY(arena, double, LEVELS_MAX + 2); // of the next child, by depth
    for (uint32_t node = flame_next(flame, 0); node;) {
        const FlameNode *at = &flame->nodes.items[node];
        double width = (double)at->total[0] * image->scale;
        if (width < image->least || at->depth > LEVELS_MAX) {
            if (draw) image->cut->stacks++;
            next_x[at->depth] += width;
            node = skip(flame, node);
            continue;
        }
        if (!draw && at->depth > image->levels) image->levels = at->depth;
        if (draw) draw_box(image, at, next_x[at->depth]);
        next_x[at->depth + 1] = next_x[at->depth];
        next_x[at->depth] += width;
        node = flame_next(flame, node);
    }
}

static void draw(Image *image) {
    AUTO(arena_done) Arena scratch = {0};
    Buf *out = &image->sink->text;
    image->levels = 1;
    *image->cut = (FlameCut){0};
    walk_boxes(image, false, &scratch);
    unsigned height = TOP + (image->levels + 1) * ROW;
    buf_addf(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
             "font-family=\"monospace\" font-size=\"11\">\n"
             "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"4\" y=\"18\">",
             (int)WIDTH, height);
    add_xml(out, image->flame->name);
    if (image->flame->compares) {
        buf_add_c(out, " compared with ");
        add_xml(out, image->flame->baseline_name);
    }
    buf_addf(out, ": %.3f ms</text>\n", (double)image->flame->nodes.items[0].total[0] / 1e6);
    walk_boxes(image, true, &scratch);
    buf_add_c(out, "</svg>\n");
}

void flame_write_svg(const Flame *flame, size_t max_bytes, FlameSink *sink, FlameCut *cut) {
    int64_t total = flame->nodes.items[0].total[0];
    Image image = {.flame = flame,
                   .scale = total ? (double)WIDTH / (double)total : 0,
                   .least = max_bytes ? 1 : 0.1,
                   .sink = sink,
                   .cut = cut};
    for (;; image.least *= 1.5) {
        draw(&image);
        if (!max_bytes || sink->text.n <= max_bytes || image.least > WIDTH) return;
        buf_clear(&sink->text);
    }
}
