/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/canonical.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* R^2 and correlations of 1 make F and chi^2 infinite; so near to it they say all there is. */
#define LEAST_UNEXPLAINED 1e-12

bool basis_init(struct basis *basis, uint32_t n_rows, uint32_t room)
{
	gsl_set_error_handler_off(); /* what cannot be done returns */
	*basis = (struct basis){.n_rows = n_rows, .room = room};
	basis->q = malloc(((size_t)n_rows * room + 1) * sizeof(*basis->q));
	return basis->q != NULL;
}

void basis_release(struct basis *basis)
{
	free(basis->q);
	*basis = (struct basis){.q = NULL};
}

/* Centres a copy of a column; returns its squared length. */
static double centre(const double *column, uint32_t n, double *out)
{
	double mean = 0, squares = 0;

	for (uint32_t i = 0; i < n; i++) {
		mean += column[i];
	}
	mean /= n ? n : 1;
	for (uint32_t i = 0; i < n; i++) {
		out[i] = column[i] - mean;
		squares += out[i] * out[i];
	}
	/* Less is what rounding leaves of a column that does not vary. */
	return squares > 1e-24 * n * mean * mean ? squares : 0;
}

static gsl_vector_view column_of(const struct basis *basis, uint32_t i)
{
	return gsl_vector_view_array(basis->q + (size_t)i * basis->n_rows, basis->n_rows);
}

bool basis_add(struct basis *basis, const double *column, double limit)
{
	double *q = basis->q + (size_t)basis->n * basis->n_rows;
	gsl_vector_view vector;
	double all, left;

	if (basis->n == basis->room || basis->n_rows == 0) {
		return false;
	}
	all = centre(column, basis->n_rows, q);
	if (!(all > 0)) {
		return false;
	}
	vector = gsl_vector_view_array(q, basis->n_rows);
	gsl_vector_scale(&vector.vector, 1 / sqrt(all));
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < basis->n; i++) {
			gsl_vector_view other = column_of(basis, i);
			double along;

			gsl_blas_ddot(&other.vector, &vector.vector, &along);
			gsl_blas_daxpy(-along, &other.vector, &vector.vector);
		}
	}
	left = gsl_blas_dnrm2(&vector.vector);
	if (1 - left * left > limit || left < 1e-7) {
		return false;
	}
	gsl_vector_scale(&vector.vector, 1 / left);
	basis->n++;
	return true;
}

bool basis_multiple(const struct basis *basis, const double *column, struct multiple *out)
{
	double *y = malloc((basis->n_rows + 1) * sizeof(*y)), all, unexplained;
	gsl_vector_view vector;

	*out = (struct multiple){.m = basis->n, .p = 1};
	if (!y) {
		return false;
	}
	all = centre(column, basis->n_rows, y);
	if (basis->n == 0 || basis->n_rows < basis->n + 2 || !(all > 0)) {
		free(y);
		return true;
	}
	vector = gsl_vector_view_array(y, basis->n_rows);
	for (uint32_t i = 0; i < basis->n; i++) {
		gsl_vector_view other = column_of(basis, i);
		double along;

		gsl_blas_ddot(&other.vector, &vector.vector, &along);
		out->r2 += along * along / all;
	}
	free(y);
	out->r2 = fmin(1, out->r2);
	unexplained = fmax(1 - out->r2, LEAST_UNEXPLAINED);
	out->f = out->r2 / out->m / (unexplained / (basis->n_rows - out->m - 1.0));
	out->p = gsl_cdf_fdist_Q(out->f, out->m, basis->n_rows - out->m - 1.0);
	return true;
}

/* Singular values of Qx' Qy, largest first; tall: GSL wants no fewer rows than columns. */
static bool correlations(const struct basis *tall, const struct basis *wide, gsl_vector *values)
{
	gsl_matrix *product = gsl_matrix_alloc(tall->n, wide->n);
	gsl_matrix *right = gsl_matrix_alloc(wide->n, wide->n);
	gsl_vector *work = gsl_vector_alloc(wide->n);
	bool done = product && right && work;

	for (uint32_t i = 0; i < tall->n && done; i++) {
		gsl_vector_view a = column_of(tall, i);

		for (uint32_t j = 0; j < wide->n; j++) {
			gsl_vector_view b = column_of(wide, j);
			double along;

			gsl_blas_ddot(&a.vector, &b.vector, &along);
			gsl_matrix_set(product, i, j, along);
		}
	}
	done = done && gsl_linalg_SV_decomp(product, right, values, work) == 0;
	gsl_matrix_free(product);
	gsl_matrix_free(right);
	gsl_vector_free(work);
	return done;
}

bool basis_canonical(const struct basis *x, const struct basis *y, struct canonical *out)
{
	const struct basis *tall = x->n >= y->n ? x : y, *wide = x->n >= y->n ? y : x;
	double weight = x->n_rows - (x->n + y->n + 3.0) / 2, log_wilks = 0;
	gsl_vector *values;

	*out = (struct canonical){.wilks = 1, .p = 1};
	if (wide->n == 0 || weight <= 0) {
		return true;
	}
	values = gsl_vector_alloc(wide->n);
	if (!values || !correlations(tall, wide, values)) {
		gsl_vector_free(values);
		return false;
	}
	for (uint32_t i = 0; i < wide->n; i++) {
		double r = fmin(1, gsl_vector_get(values, i));

		log_wilks += log(fmax(1 - r * r, LEAST_UNEXPLAINED));
	}
	out->first = fmin(1, gsl_vector_get(values, 0));
	gsl_vector_free(values);
	out->wilks = exp(log_wilks);
	out->chi2 = -weight * log_wilks;
	out->df = x->n * y->n;
	out->p = gsl_cdf_chisq_Q(out->chi2, out->df);
	return true;
}
