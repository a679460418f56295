ALTER TABLE "payments"."wallets" ADD COLUMN "cleared_payments" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "payments"."wallets" ADD COLUMN "cleared_revision" numeric(78,0);