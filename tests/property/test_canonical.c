/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Correlations with several columns, against GSL's least squares, against what can be computed by
 * hand, and against their distributions where nothing goes with anything.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_linalg.h>

#include "stats/bootstrap.h"
#include "stats/canonical.h"
#include "trials.h"

#define MAX_ROWS    200u
#define MAX_COLUMNS 8u

static double columns[MAX_COLUMNS][MAX_ROWS], response[MAX_ROWS];

static void draw(struct bootstrap_random *random, uint32_t n, uint32_t m, double effect)
{
	for (uint32_t i = 0; i < n; i++) {
		response[i] = 3 + bootstrap_normal(random);
		for (uint32_t j = 0; j < m; j++) {
			columns[j][i] = 5 * j + bootstrap_normal(random) +
					(j ? 0.5 * columns[j - 1][i] : 0);
			response[i] += effect * columns[j][i] / (1 + j);
		}
	}
}

static void make_basis(struct basis *basis, uint32_t n, uint32_t first, uint32_t m)
{
	assert_true(basis_init(basis, n, MAX_COLUMNS));
	for (uint32_t j = 0; j < m; j++) {
		assert_true(basis_add(basis, columns[first + j], 0.98));
	}
	assert_int_equal(basis->n, m);
}

/* R^2 by least squares with an intercept. */
static double least_squares_r2(uint32_t n, uint32_t m)
{
	gsl_matrix *x = gsl_matrix_alloc(n, m + 1), *covariance = gsl_matrix_alloc(m + 1, m + 1);
	gsl_vector *y = gsl_vector_alloc(n), *fit = gsl_vector_alloc(m + 1);
	gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(n, m + 1);
	double left, mean = 0, all = 0;

	for (uint32_t i = 0; i < n; i++) {
		gsl_vector_set(y, i, response[i]);
		gsl_matrix_set(x, i, 0, 1);
		mean += response[i] / n;
		for (uint32_t j = 0; j < m; j++) {
			gsl_matrix_set(x, i, j + 1, columns[j][i]);
		}
	}
	gsl_multifit_linear(x, y, fit, covariance, &left, work);
	for (uint32_t i = 0; i < n; i++) {
		all += (response[i] - mean) * (response[i] - mean);
	}
	gsl_multifit_linear_free(work);
	gsl_vector_free(fit);
	gsl_vector_free(y);
	gsl_matrix_free(covariance);
	gsl_matrix_free(x);
	return 1 - left / all;
}

static void test_multiple_as_least_squares(void **state)
{
	struct bootstrap_random random = {.state = 1};

	(void)state;
	for (uint32_t trial = 0; trial < 50; trial++) {
		uint32_t n = 20 + 3 * trial, m = 1 + trial % MAX_COLUMNS;
		struct multiple multiple;
		struct basis basis;
		double r2;

		draw(&random, n, m, trial % 2);
		make_basis(&basis, n, 0, m);
		assert_true(basis_multiple(&basis, response, &multiple));
		r2 = least_squares_r2(n, m);
		assert_int_equal(multiple.m, m);
		assert_true(fabs(multiple.r2 - r2) < 1e-10);
		assert_true(fabs(multiple.f / (r2 / m / ((1 - r2) / (n - m - 1))) - 1) < 1e-8);
		basis_release(&basis);
	}
}

/* y = (1, 2, 3, 5, 4) on x = (1, 2, 3, 4, 5): r = 0.9, F = 0.81 / (0.19 / 3), two-sided t with 3
 * degrees of freedom at 3.576: p = 0.0374. */
static void test_multiple_by_hand(void **state)
{
	static const double x[] = {1, 2, 3, 4, 5}, y[] = {1, 2, 3, 5, 4};
	struct multiple multiple;
	struct basis basis;

	(void)state;
	assert_true(basis_init(&basis, 5, 2));
	assert_true(basis_multiple(&basis, y, &multiple));
	assert_true(multiple.r2 == 0 && multiple.p == 1);
	assert_true(basis_add(&basis, x, 0.98));
	assert_true(basis_multiple(&basis, y, &multiple));
	assert_true(fabs(multiple.r2 - 0.81) < 1e-12);
	assert_true(fabs(multiple.f - 0.81 / (0.19 / 3)) < 1e-9);
	assert_true(fabs(multiple.p - 0.0374) < 1e-4);
	basis_release(&basis);
}

/* What follows from the others is not taken; what does not vary, neither. */
static void test_collinear(void **state)
{
	struct bootstrap_random random = {.state = 2};
	double column[MAX_ROWS];
	struct basis basis;

	(void)state;
	draw(&random, MAX_ROWS, 3, 0);
	make_basis(&basis, MAX_ROWS, 0, 3);
	for (uint32_t i = 0; i < MAX_ROWS; i++) {
		column[i] = 4 - columns[0][i] + 2 * columns[1][i] - columns[2][i];
	}
	assert_false(basis_add(&basis, column, 0.98));
	for (uint32_t i = 0; i < MAX_ROWS; i++) {
		column[i] += 0.05 * bootstrap_normal(&random);
	}
	assert_false(basis_add(&basis, column, 0.98));
	assert_true(basis_add(&basis, column, 0.99999));
	for (uint32_t i = 0; i < MAX_ROWS; i++) {
		column[i] = 7;
	}
	assert_false(basis_add(&basis, column, 0.98));
	assert_int_equal(basis.n, 4);
	basis_release(&basis);
}

/* log |I - Sxx^-1 Sxy Syy^-1 Syx| = log |S| - log |Sxx| - log |Syy|, by determinants. */
static double log_determinant(uint32_t n, uint32_t first, uint32_t m)
{
	gsl_matrix *s = gsl_matrix_alloc(m, m);
	gsl_permutation *order = gsl_permutation_alloc(m);
	double means[MAX_COLUMNS] = {0}, result;
	int sign;

	for (uint32_t j = 0; j < m; j++) {
		for (uint32_t i = 0; i < n; i++) {
			means[j] += columns[first + j][i] / n;
		}
	}
	for (uint32_t j = 0; j < m; j++) {
		for (uint32_t k = 0; k < m; k++) {
			double sum = 0;

			for (uint32_t i = 0; i < n; i++) {
				sum += (columns[first + j][i] - means[j]) *
				       (columns[first + k][i] - means[k]);
			}
			gsl_matrix_set(s, j, k, sum);
		}
	}
	gsl_linalg_LU_decomp(s, order, &sign);
	result = gsl_linalg_LU_lndet(s);
	gsl_permutation_free(order);
	gsl_matrix_free(s);
	return result;
}

static void test_wilks_as_determinants(void **state)
{
	struct bootstrap_random random = {.state = 3};

	(void)state;
	for (uint32_t trial = 0; trial < 30; trial++) {
		uint32_t n = 30 + 5 * trial, p = 1 + trial % 5, q = 1 + trial % 3;
		double expected;
		struct canonical canonical, swapped;
		struct basis x, y;

		draw(&random, n, p + q, 0);
		make_basis(&x, n, 0, p);
		make_basis(&y, n, p, q);
		assert_true(basis_canonical(&x, &y, &canonical));
		assert_true(basis_canonical(&y, &x, &swapped));
		expected = log_determinant(n, 0, p + q) - log_determinant(n, 0, p) -
			   log_determinant(n, p, q);
		assert_true(fabs(log(canonical.wilks) - expected) < 1e-8);
		assert_true(fabs(canonical.chi2 + (n - (p + q + 3) / 2.0) * expected) < 1e-6);
		assert_int_equal(canonical.df, p * q);
		assert_true(fabs(canonical.first - swapped.first) < 1e-12);
		assert_true(fabs(canonical.chi2 - swapped.chi2) < 1e-9);
		basis_release(&x);
		basis_release(&y);
	}
}

/* With one column on either side it is Pearson's r; with one on one, multiple correlation. */
static void test_canonical_of_one(void **state)
{
	struct bootstrap_random random = {.state = 4};
	struct canonical canonical;
	struct multiple multiple;
	struct basis x, y;

	(void)state;
	draw(&random, 100, 4, 0.3);
	make_basis(&x, 100, 0, 4);
	assert_true(basis_init(&y, 100, 1));
	assert_true(basis_canonical(&x, &y, &canonical));
	assert_true(canonical.df == 0 && canonical.p == 1 && canonical.wilks == 1);
	assert_true(basis_add(&y, response, 0.98));
	assert_true(basis_multiple(&x, response, &multiple));
	assert_true(basis_canonical(&x, &y, &canonical));
	assert_true(fabs(canonical.first * canonical.first - multiple.r2) < 1e-10);
	assert_true(fabs(canonical.wilks - (1 - multiple.r2)) < 1e-10);
	basis_release(&x);
	basis_release(&y);
}

/* With independent normal rows that say nothing both p are uniform. */
static void test_p_is_uniform(void **state)
{
	struct bootstrap_random random = {.state = 5};
	uint32_t trials = TRIALS(4000), f[3] = {0}, chi2[3] = {0};
	static const double bounds[] = {0.01, 0.05, 0.5};

	(void)state;
	for (uint32_t trial = 0; trial < trials; trial++) {
		struct canonical canonical;
		struct multiple multiple;
		struct basis x, y;

		draw(&random, 60, 6, 0);
		make_basis(&x, 60, 0, 3);
		assert_true(basis_init(&y, 60, 3));
		for (uint32_t j = 0; j < 3; j++) {
			for (uint32_t i = 0; i < 60; i++) {
				columns[j][i] = bootstrap_normal(&random);
			}
			basis_add(&y, columns[j], 0.98);
		}
		assert_true(basis_multiple(&x, response, &multiple));
		assert_true(basis_canonical(&x, &y, &canonical));
		for (uint32_t b = 0; b < 3; b++) {
			f[b] += multiple.p <= bounds[b];
			chi2[b] += canonical.p <= bounds[b];
		}
		basis_release(&x);
		basis_release(&y);
	}
	for (uint32_t b = 0; b < 3; b++) {
		double off = 3 * sqrt(bounds[b] * (1 - bounds[b]) / trials);

		assert_true(fabs((double)f[b] / trials - bounds[b]) < off);
		/* Bartlett's chi^2 is an approximation: a tenth more. */
		assert_true(fabs((double)chi2[b] / trials - bounds[b]) < off + 0.1 * bounds[b]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_multiple_as_least_squares),
			cmocka_unit_test(test_multiple_by_hand),
			cmocka_unit_test(test_collinear),
			cmocka_unit_test(test_wilks_as_determinants),
			cmocka_unit_test(test_canonical_of_one),
			cmocka_unit_test(test_p_is_uniform),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
