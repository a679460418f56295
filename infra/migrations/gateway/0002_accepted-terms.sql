CREATE TABLE "gateway"."accepted_terms" (
	"wallet" text NOT NULL,
	"version" text NOT NULL,
	"accepted_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "accepted_terms_wallet_version_pk" PRIMARY KEY("wallet","version")
);
